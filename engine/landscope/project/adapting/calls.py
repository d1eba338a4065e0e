"""How an adapter calls what was chosen from somebody's script."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from landscope.project.adapting.definitions import Definition, accepted, needed
from landscope.project.adapting.imports import Imports
from landscope.project.adapting.values import UNKNOWN, Values

_REMINDER = "  # put your values here"


@dataclass(frozen=True)
class Choice:
    """A name at the top level of a script, and where that name is defined (None = outside the project)."""

    script: Path
    name: str
    definition: Definition | None

    @property
    def node(self) -> ast.stmt | None:
        """The statement that defines it."""
        return self.definition.node if self.definition is not None else None


class Calls:
    """Expressions for choices; what they need is imported and looked up on the way.

    Attributes:
        imports, values: what was needed so far.
    """

    def __init__(self, root: Path, script: Path) -> None:
        self.imports = Imports(root)
        self.values = Values(root, script, self.imports)
        self._incomplete: set[str] = set()

    def alias(self, choice: Choice) -> str:
        """Imported from where it is defined, so that a script which only hands it on need not run."""
        if choice.definition is None:
            return self.imports.alias(choice.script, choice.name)
        return self.imports.alias(choice.definition.script, choice.definition.name)

    def call(self, choice: Choice, given: dict[str, str] | None = None) -> str:
        """An expression that gives the thing: a call for functions and classes, the name for variables."""
        if isinstance(choice.node, ast.Assign | ast.AnnAssign):
            return self.alias(choice)
        known = dict(given or {})
        parameters = accepted(choice.node) if choice.node is not None else None
        shown = self.values.as_called(choice.script, choice.name, parameters)
        for need in needed(choice.node):
            known.setdefault(need, shown.get(need) or self.values.of(need, choice.script))
        known = {**known, **{name: text for name, text in shown.items() if name not in known}}
        written = (text if name.isdigit() else f"{name}={text}" for name, text in known.items())
        call = f"{self.alias(choice)}({', '.join(written)})"
        if any(known[need] == UNKNOWN and need not in shown for need in needed(choice.node)):
            self._incomplete.add(call)
        return call

    def reminder(self, call: str) -> str:
        """A comment beside a call for which not everything is known."""
        return _REMINDER if call in self._incomplete else ""

    def tuple_comment(self, call: str, parts: tuple[str, ...]) -> str:
        """A comment that says what a call gives, and whether it is complete."""
        return f"  # it gives ({', '.join(parts)}){self.reminder(call).replace('  #', ';')}"


def place_of(parts: tuple[str, ...], pattern: str) -> int | None:
    """Which of several things has a name like that; None = none."""
    return next((k for k, part in enumerate(parts) if re.search(pattern, part, re.I)), None)
