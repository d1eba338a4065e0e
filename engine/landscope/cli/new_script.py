"""``landscope new-script``: a ``landscope_project.py`` for somebody's folder, from its text alone."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from landscope.project.adapting.new_script import NewScript, new_script
from landscope.project.spec import FILE, load_project


def write(options: argparse.Namespace) -> int:
    """Write the file and say what it uses and what is left to do; returns the exit code."""
    made = new_script(
        options.folder,
        options.script,
        model=options.model,
        data=options.data,
        loss=options.loss,
        force=options.force,
    )
    print(f"Wrote {made.file}.")
    for line in _used(made):
        print(line)
    print(_next(made))
    _say_who_names_another(made)
    return 0


def _say_who_names_another(made: NewScript) -> None:
    listed = made.file.with_name(FILE)
    if listed.is_file() and (named := load_project(listed).script) and Path(named) != made.file:
        print(f"{listed} names {Path(named).name} as the script: let it name {made.file.name} instead.")


def _used(made: NewScript) -> list[str]:
    if made.script is None:
        return [
            "Nothing in the folder looks like a model: say in it what to build; what was found stands in it."
        ]
    names = {"model": made.model, "data": made.data, "loss": made.loss}
    return [f"  {what}: {name}" for what, name in names.items() if name]


def _next(made: NewScript) -> str:
    folder = shlex.quote(str(made.file.parent))
    if made.to_fill_in:
        places = "one place" if made.to_fill_in == 1 else f"{made.to_fill_in} places"
        return f"Nothing was run. Fill in {places} in it, then: landscope run {folder} -o session.h5 --trust"
    return f"Nothing was run. Try it: landscope run {folder} -o session.h5 --trust"
