"""``landscope trust``: which folders' code may run."""

from __future__ import annotations

import argparse
from pathlib import Path

import landscope.project.trust as store
from landscope.contract.errors import OptionError


def trust(options: argparse.Namespace) -> int:
    """List, add or take back; returns the exit code."""
    if options.folder is None and options.revoke:
        raise OptionError("--revoke needs a folder; landscope trust lists the trusted ones.")
    if options.folder is None:
        print("\n".join(str(root) for root in store.trusted_roots()) or "No folder is trusted.")
        return 0
    root = str(options.folder.absolute())
    if options.revoke:
        lost = store.revoke(root)
        print(f"Code in {root} {'will not run any more' if lost else 'was not trusted'}.")
        for other in lost:
            if Path(other) != Path(root).resolve():
                print(f"That goes for {other}, too, which was trusted with it.")
    elif not options.folder.is_dir():
        raise OptionError(f"{root} is no folder; trust is given to the folder of a script.")
    else:
        store.trust(root)
        print(f"Code in {root} may run now.")
    return 0
