"""The text of an adapter: how the model, the data and the loss of somebody's script are called."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from landscope.project.adapting.calls import Calls, Choice, place_of
from landscope.project.adapting.data import DataText
from landscope.project.adapting.definitions import accepted, given_back, top_level, tree_of

_MARK = '"""What Landscope builds from'


def adapter_text(
    root: Path,
    script: Path,
    model: Choice,
    data: Choice | None = None,
    loss: Choice | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """The whole file.

    Args:
        root: folder that the file will lie in. script: what it speaks for, where options are looked for.
        model, data, loss: what was chosen; without ``data`` the function is left to be filled in.
        remarks: comments below the docstring.
    """
    calls = Calls(root, script)
    of_model, has_criterion = _model_lines(calls, root, model, loss is None)
    body = [*of_model, "", "", *DataText(root, script, calls).lines(data)]
    if loss is not None:
        body += ["", "", *_loss_lines(calls, loss)]
    elif has_criterion:
        body += ["", "", *_CRITERION_LINES]
    body += _handed_on(calls, script)
    options = list(calls.values.lines())
    imports = [*calls.values.imports(), *calls.imports.lines()]
    comments = [f"# {remark}" for remark in remarks]
    head = [f"{_MARK} {script.name}; edit it freely.", "", *_ABOUT, '"""', ""]
    head += [*comments, ""] if comments else []
    return "\n".join([*head, *imports, *([""] if options else []), *options, "", "", *body]) + "\n"


_ABOUT = (
    "build_model() gives the untrained network, build_data(split) the batches of “train” or “test”;",
    "loss(model, batch) and metrics(model, batch) may be added. Paths are as seen from this folder.",
)
_CRITERION_LINES = (
    "def loss(model, batch):",
    "    inputs, targets = batch",
    '    if hasattr(criterion, "to"):',
    "        criterion.to(next(model.parameters()).device)",
    "    found = criterion(model(inputs), targets)",
    "    if not isinstance(found, dict):",
    "        return found",
    '    weights = getattr(criterion, "weight_dict", dict.fromkeys(found, 1.0))',
    "    return sum(weights[name] * value for name, value in found.items() if name in weights)",
)


def _model_lines(calls: Calls, root: Path, model: Choice, with_criterion: bool) -> tuple[list[str], bool]:
    """``build_model``, which takes the model out of a tuple; whether a criterion came with it."""
    takes_run = model.name == "build_model" and "run" in accepted(model.node)
    head = f"def build_model({'run' if takes_run else ''}):"
    call = calls.call(model, {"run": "run"} if takes_run else None)
    parts = given_back(model.definition, root) if model.definition else ()
    if not parts:
        return [head, f"    return {call}{calls.reminder(call)}"], False
    place = place_of(parts, r"model|net") or 0
    criterion = place_of(parts, r"criterion|loss") if with_criterion else None
    lines = [f"    built = {call}{calls.tuple_comment(call, parts)}"]
    if criterion is not None:
        lines = ["    global criterion", *lines, f"    criterion = built[{criterion}]"]
    return [head, *lines, f"    return built[{place}]"], criterion is not None


def _handed_on(calls: Calls, script: Path) -> list[str]:
    """What a script that is made for Landscope has besides."""
    there = top_level(tree_of(script))
    names = [name for name in ("metrics", "batch_size") if isinstance(there.get(name), ast.FunctionDef)]
    return ["", "", *(f"{name} = {calls.imports.alias(script, name)}" for name in names)] if names else []


def _loss_lines(calls: Calls, loss: Choice) -> list[str]:
    """``loss``: the script's own of model and batch, or a criterion of outputs and labels."""
    node = loss.node
    first = accepted(node)[:1]
    if isinstance(node, ast.FunctionDef) and first and first[0] in ("model", "net", "network"):
        return ["def loss(model, batch):", f"    return {calls.alias(loss)}(model, batch)"]
    criterion = calls.call(loss) if isinstance(node, ast.ClassDef) else calls.alias(loss)
    lines = ["    inputs, labels = batch", f"    return {criterion}(model(inputs), labels)"]
    return ["def loss(model, batch):", *lines]
