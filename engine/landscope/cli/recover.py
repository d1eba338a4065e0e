"""``landscope recover``: sessions that a crash, a kill or a full disk kept from being saved."""

from __future__ import annotations

import argparse
from datetime import datetime

from landscope.cli.output import check_output
from landscope.contract.errors import OptionError
from landscope.session.recover import Abandoned, abandoned, discard
from landscope.session.recover import recover as rebuilt
from landscope.session.write import save


def recover(options: argparse.Namespace) -> int:
    """List what can be recovered, or save one of it; returns the exit code."""
    found = abandoned()
    if options.output is None:
        print("\n".join(map(_line, found)) or "There is nothing to recover.")
        return 0
    chosen = _chosen(found, options.name)
    check_output(options.output)
    save(rebuilt(chosen.folder), options.output)
    discard(chosen.folder)
    print(f"Session: {options.output}")
    return 0


def _line(one: Abandoned) -> str:
    when = datetime.fromtimestamp(one.modified).isoformat(sep=" ", timespec="seconds")
    place = f", for {one.path}" if one.path else ""
    return f"{one.folder.name[:8]}  {when}  {one.title}{place} ({one.bytes / 1e6:.1f} MB)"


def _chosen(found: list[Abandoned], name: str) -> Abandoned:
    fitting = [one for one in found if one.folder.name.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(one.folder.name[:8] for one in found) or "none"
    if not fitting:
        raise OptionError(f"There is no journal {name or 'to recover'}; those here: {known}.")
    raise OptionError(f"There are several journals; name one of {known} (landscope recover lists them).")
