"""The import statements of an adapter: which file gives which name, and what must be on ``sys.path``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from landscope.project.adapting.definitions import import_root


class Imports:
    """Collects names and says under which alias each is there."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: dict[Path, dict[str, str]] = {}

    def alias(self, script: Path, name: str) -> str:
        """What the adapter calls ``name`` of ``script``: with an underscore, so that it never stands in its
        own functions' way.
        """
        known = self._names.setdefault(script, {})
        if name not in known:
            taken = {alias for names in self._names.values() for alias in names.values()}
            alias, number = f"_{name}", 2
            while alias in taken:
                alias, number = f"_{name}_{number}", number + 1
            known[name] = alias
        return known[name]

    def lines(self) -> Iterator[str]:
        """The statements: packages by their dotted names, files of odd names by their paths."""
        dotted = {script: _dotted(script) for script in self._names}
        tops = {import_root(script): None for script, parts in dotted.items() if parts}
        others = [top for top in tops if top != self._root]
        odd = [script for script, parts in dotted.items() if not parts]
        yield from ["import importlib.util"] if odd else []
        yield from ["import sys"] if others else []
        yield from ["from pathlib import Path"] if odd or others else []
        yield from [""] if odd or others else []
        for top in others:
            yield f"sys.path.insert(0, str({self._place(top)}))"
        yield from [""] if others else []
        for script, parts in dotted.items():
            yield from self._from(script, parts, late=bool(others))

    def _from(self, script: Path, parts: tuple[str, ...], *, late: bool) -> Iterator[str]:
        names = self._names[script]
        if parts:
            listed = ", ".join(f"{name} as {alias}" for name, alias in names.items())
            yield f"from {'.'.join(parts)} import {listed}" + ("  # noqa: E402" if late else "")
            return
        yield f'_spec = importlib.util.spec_from_file_location("_script", {self._place(script)})'
        yield "_script = importlib.util.module_from_spec(_spec)"
        yield "_spec.loader.exec_module(_script)"
        yield from (f"{alias} = _script.{name}" for name, alias in names.items())

    def _place(self, path: Path) -> str:
        """An expression for a path that stays right when the whole project is moved."""
        if path in self._root.parents:
            return f"Path(__file__).resolve().parents[{list(self._root.parents).index(path) + 1}]"
        try:
            inside = path.relative_to(self._root).as_posix()
        except ValueError:
            return f"Path({str(path)!r})"
        return f"Path(__file__).resolve().parent / {inside!r}"


def _dotted(script: Path) -> tuple[str, ...]:
    """A file's dotted name in parts; empty if it can have none."""
    stem = () if script.stem == "__init__" else (script.stem,)
    parts = (*script.parent.relative_to(import_root(script)).parts, *stem)
    return parts if all(part.isidentifier() for part in parts) else ()
