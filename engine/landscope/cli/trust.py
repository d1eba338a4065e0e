"""``landscope trust``: which folders' code may run."""

from __future__ import annotations

import argparse

import landscope.project.trust as store


def trust(options: argparse.Namespace) -> int:
    """List, add or take back; returns the exit code."""
    if options.folder is None:
        print("\n".join(str(root) for root in store.trusted_roots()) or "No folder is trusted.")
        return 0
    root = str(options.folder.absolute())
    if options.revoke:
        store.revoke(root)
        print(f"Code in {root} will not run any more.")
    else:
        store.trust(root)
        print(f"Code in {root} may run now.")
    return 0
