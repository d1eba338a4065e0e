"""What an adapter passes for the arguments that somebody's functions need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from landscope.contract.errors import ScriptError
from landscope.project.adapting.arguments import BAGS, Options, find_options, literal
from landscope.project.adapting.definitions import last_name, top_level, tree_of
from landscope.project.adapting.imports import Imports

UNKNOWN = "None"
_CUDA = ("'cuda'", "'gpu'", "'cuda:0'")


class Values:
    """Finds values in the text of the script; the options it needs become variables of the adapter."""

    def __init__(self, root: Path, script: Path, imports: Imports) -> None:
        self._root, self._script, self._imports = root, script, imports
        self._used: dict[str, Options] = {}

    def of(self, need: str, script: Path) -> str:
        """What to pass for a parameter of that name, as ``script`` knows it, else ``UNKNOWN``."""
        if need in BAGS and self._options(need, script) is not None:
            return need
        return self.option(need, script) or self._constant(need, script) or UNKNOWN

    def as_called(self, script: Path, function: str, parameters: tuple[str, ...] | None) -> dict[str, str]:
        """Arguments of a call of ``function`` in its own script, else in the one that the adapter speaks for,
        as far as they mean the same outside of it.

        Args:
            parameters: names in order; None = not known, then positional arguments are named by their place.
        """
        found: dict[str, str] = {}
        places = [place for place in (script, self._script) if _calls(place, function)]
        for caller in places[:1]:
            call = _calls(caller, function)[0]
            for place, node in enumerate(call.args):
                if parameters is None or place < len(parameters):
                    name = str(place) if parameters is None else parameters[place]
                    found[name] = self._portable(node, caller)
            found |= {k.arg: self._portable(k.value, caller) for k in call.keywords if k.arg}
        return {name: text for name, text in found.items() if text}

    def splits_of(self, script: Path, function: str, parameter: str, parameters: tuple[str, ...]) -> set[str]:
        """Words that the script passes for the parameter that says which split."""
        place = parameters.index(parameter)
        values: list[ast.expr | None] = []
        for call in _calls(script, function):
            by_name = {k.arg: k.value for k in call.keywords}
            values.append(by_name.get(parameter, call.args[place] if place < len(call.args) else None))
        return {
            value.value
            for value in values
            if isinstance(value, ast.Constant) and isinstance(value.value, str)
        }

    def _portable(self, node: ast.expr, script: Path) -> str:
        named = self._constant(node.id, script) if isinstance(node, ast.Name) else ""
        return literal(node) or named or self._of_options(node, script)

    def option(self, name: str, script: Path | None = None) -> str:
        """An expression for an option of that name; empty where the script has none."""
        for bag in (*self._used, "args"):
            options = self._used.get(bag) or self._found(bag, script or self._script)
            if options is not None and name in options.defaults:
                self._used.setdefault(bag, options)
                return f"{bag}.{name}"
        return ""

    def imports(self) -> Iterator[str]:
        """Import statements of the standard library that the options need."""
        if any(not options.name for options in self._used.values()):
            yield "from types import SimpleNamespace"
            yield ""

    def lines(self) -> Iterator[str]:
        """The variables that hold the options."""
        for bag, options in self._used.items():
            yield from self._written(bag, options)
            if options.parsed and options.name and options.defaults.get("device") in _CUDA:
                yield f'{bag}.device = "cpu"  # Landscope itself moves the model to the device'

    def _written(self, bag: str, options: Options) -> Iterator[str]:
        if options.name:
            alias = self._imports.alias(options.script, options.name)
            hint = '  # or: parse_args(["--option", "value"])' if "parse_args" in options.call else ""
            yield f"{bag} = {alias}{options.call}{hint}"
            return
        yield f"{bag} = SimpleNamespace(  # the defaults of {options.script.name}; edit them"
        for name, default in options.defaults.items():
            moved = name == "device" and default in _CUDA
            yield f"    {name}={repr('cpu') if moved else default},"
        yield ")"

    def _options(self, bag: str, script: Path) -> Options | None:
        if bag not in self._used:
            options = self._found(bag, script)
            if options is None:
                return None
            self._used[bag] = options
            if options.name:
                self._imports.alias(options.script, options.name)
        return self._used[bag]

    def _found(self, bag: str, script: Path) -> Options | None:
        for place in dict.fromkeys((script, self._script)):
            try:
                options = find_options(place, self._root, bag)
            except ScriptError:
                continue
            if options is not None:
                return options
        return None

    def _of_options(self, value: ast.expr | None, script: Path) -> str:
        """``args.width`` where the script's ``args`` can be had."""
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id in BAGS:
            bag = value.value.id
            options = self._options(bag, script)
            if options is not None and (not options.defaults or value.attr in options.defaults):
                return f"{bag}.{value.attr}"
        return ""

    def _constant(self, need: str, script: Path) -> str:
        """A constant of the script with the parameter's name, small or in capitals."""
        there = top_level(tree_of(script))
        for name in (need, need.upper()):
            node = there.get(name)
            if isinstance(node, ast.Assign) and (text := literal(node.value)):
                return text
        return ""


def _calls(script: Path, function: str) -> list[ast.Call]:
    calls = (node for node in ast.walk(tree_of(script)) if isinstance(node, ast.Call))
    return [node for node in calls if last_name(node.func) == function]
