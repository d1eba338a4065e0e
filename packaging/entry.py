"""The one executable of the packaged application: window, command line, hosts and readers of checkpoints.

The window starts its hosts as ``Landscope --role=reader …``, and whoever reads checkpoints a guarded child as
``Landscope --role=checkpoints …``, since a packaged application knows no ``python -m``.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Be what the role says, without one the command line; returns the exit code."""
    if len(sys.argv) > 1 and sys.argv[1] == "--role=checkpoints":
        from landscope.checkpoints.guarded.child import main as child

        return child(sys.argv[2:])
    if len(sys.argv) > 1 and sys.argv[1].startswith("--role"):
        from landscope.runner.host import main as host

        return host(sys.argv[1:])
    from landscope.cli.main import main as command_line

    return command_line()


if __name__ == "__main__":
    sys.exit(main())
