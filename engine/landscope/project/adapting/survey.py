"""Which script of a folder trains the model, and what in the folder could be model, data and loss."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from landscope.contract.errors import ScriptError
from landscope.project.adapting.adapter import FILE
from landscope.project.adapting.arguments import option_defaults
from landscope.project.adapting.candidates import Candidate, Candidates, find_candidates, ranked
from landscope.project.adapting.definitions import Definition, follow, tree_of

_MOST_FILES, _DEPTH = 300, 4
_SKIPPED = re.compile(r"\.|_?tests?$|docs?$|build$|dist$|node_modules$|site-packages$|__pycache__$|v?env$")
_NO_SCRIPT = re.compile(rf"(setup|conftest|noxfile|{FILE.removesuffix('.py')}|test_\w*|\w*_test)\.py$")
_STARTED = re.compile(r"(landscope|train|main|run|pretrain|finetune|model|project)", re.I)


@dataclass(frozen=True)
class Survey:
    """What was found.

    Attributes:
        script: the likeliest script; None where no file has a model or data.
        candidates: those of the script, then those of other files that define them themselves.
        unread: sentences about files that cannot be parsed.
    """

    script: Path | None
    candidates: Candidates
    unread: tuple[str, ...] = ()


def survey(root: str | Path, script: str | Path | None = None) -> Survey:
    """Look through a folder; nothing is run.

    Args:
        root: the folder. script: look here first; None = choose.

    Raises:
        ScriptError: the script that was named cannot be parsed.
    """
    folder = Path(root).resolve()
    found: dict[Path, Candidates] = {}
    unread = []
    if script is not None:
        found[Path(script).resolve()] = find_candidates(Path(script).resolve(), folder)
    for file in _files(folder, 0):
        if len(found) >= _MOST_FILES:
            break
        try:
            found.setdefault(file, find_candidates(file, folder))
        except ScriptError as error:
            unread.append(error.sentence)
    chosen = Path(script).resolve() if script is not None else _likeliest(found)
    return Survey(chosen, _merged(found, chosen, folder), tuple(unread))


def spelled(candidate: Candidate, root: Path, script: Path) -> str:
    """A candidate as ``write_adapter`` takes it: its name, with its file where that is not the script."""
    file = Path(candidate.script)
    if file == script:
        return candidate.name
    return f"{_short(file, root)}:{candidate.name}"


def as_answer(found: Survey, root: Path) -> dict[str, object]:
    """What a window is told (see ``contract.job.CandidatesJob``)."""
    script = found.script or root
    lists = {name: getattr(found.candidates, name) for name in ("models", "data", "losses")}
    return {"script": str(found.script or "")} | {
        name: [
            {
                "name": spelled(one, root.resolve(), script),
                "signature": f"{one.name}{one.signature}",
                "kind": one.kind,
                "file": "" if Path(one.script) == script else _short(Path(one.script), root.resolve()),
                "line": one.line,
            }
            for one in candidates
        ]
        for name, candidates in lists.items()
    }


def _short(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if root in file.parents else str(file)


def _files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        children = sorted(folder.iterdir(), key=lambda child: (child.is_dir(), child.name))
    except OSError:
        return
    for child in children:
        if child.is_dir():
            if depth < _DEPTH and not _SKIPPED.match(child.name) and not (child / "pyvenv.cfg").is_file():
                yield from _files(child, depth + 1)
        elif child.suffix == ".py" and not _NO_SCRIPT.match(child.name):
            yield child


def _likeliest(found: dict[Path, Candidates]) -> Path | None:
    fitting = [file for file, one in found.items() if one.models or one.data]
    return max(fitting, key=lambda file: _score(file, found[file]), default=None)


def _score(file: Path, found: Candidates) -> tuple[int, ...]:
    both = 2 * (bool(found.models) and bool(found.data))
    named = found.models[:1] and found.models[0].name == "build_model"
    started = bool(_STARTED.match(file.stem)) + bool(option_defaults(tree_of(file))) + _has_guard(file)
    used = any(one.used for one in found.models)
    return both + started + bool(named) + used, -len(file.parts)


def _has_guard(file: Path) -> bool:
    return any(
        isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree_of(file).body
    )


def _merged(found: dict[Path, Candidates], script: Path | None, root: Path) -> Candidates:
    """The script's own, then the definitions in other files that it does not import."""
    own = found.get(script, Candidates((), (), ())) if script is not None else Candidates((), (), ())
    others = [one for file, one in found.items() if file != script]
    return Candidates(
        _joined(own.models, [c for one in others for c in one.models], "model", root),
        _joined(own.data, [c for one in others for c in one.data], "data", root),
        _joined(own.losses, [c for one in others for c in one.losses], "loss", root),
    )


def _joined(
    own: tuple[Candidate, ...], others: list[Candidate], purpose: str, root: Path
) -> tuple[Candidate, ...]:
    there = {_origin(one, root) for one in own}
    new = [one for one in others if one.kind != "import" and _origin(one, root) not in there]
    return own + ranked(new, purpose)


def _origin(candidate: Candidate, root: Path) -> tuple[Path, str]:
    definition: Definition | None = follow(Path(candidate.script), candidate.name, root)
    if definition is None:
        return Path(candidate.script), candidate.name
    return definition.script, definition.name
