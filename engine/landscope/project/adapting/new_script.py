"""A ``landscope_project.py`` for somebody's folder, from the likeliest callables in it; nothing is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from landscope.contract.errors import OptionError
from landscope.project.adapting.adapter import write_adapter, write_text
from landscope.project.adapting.candidates import Candidate
from landscope.project.adapting.definitions import tree_of, works_when_imported
from landscope.project.adapting.survey import Survey, spelled, survey

_LISTED = 12
_TEMPLATE = '''"""What Landscope builds: {why}; fill in the two functions.

build_model() gives the untrained network, build_data(split) the batches of “train” or “test”;
loss(model, batch) and metrics(model, batch) may be added. Paths are as seen from this folder.
"""

{listed}

def build_model():
    # return Net(width=64)
    raise NotImplementedError("say in build_model() of landscope_project.py how the network is made")


def build_data(split):
    # return DataLoader(YourDataset(train=split == "train"), batch_size=128)
    raise NotImplementedError("say in build_data() of landscope_project.py which batches to use")


# Without it: cross entropy for integer labels, the squared error for real targets, or the model's own loss.
# def loss(model, batch):
#     inputs, targets = batch
#     return criterion(model(inputs), targets)
'''


@dataclass(frozen=True)
class NewScript:
    """The file that was written and what it uses (``name`` or ``file.py:name``; empty = to be filled in)."""

    file: Path
    script: Path | None
    model: str = ""
    data: str = ""
    loss: str = ""
    to_fill_in: int = 0


def new_script(
    root: str | Path,
    script: str | Path | None = None,
    *,
    model: str = "",
    data: str = "",
    loss: str = "",
    force: bool = False,
) -> NewScript:
    """Write ``landscope_project.py`` into a folder.

    Args:
        root: the folder. script: the script to speak for; None = the likeliest of the folder.
        model, data, loss: names to use, as ``write_adapter`` takes them; empty = the likeliest.
        force: replace a file that somebody wrote or edited.

    Raises:
        OptionError: the folder or a name is not there, or somebody's file is.
        ScriptError: the script that was named cannot be parsed.
    """
    folder = Path(root).resolve()
    if not folder.is_dir():
        raise OptionError(f"{folder} is no folder; name the folder of the model script.")
    if script is not None and not Path(script).is_file():
        raise OptionError(f"There is no script {script}.")
    found = survey(folder, script)
    if found.script is None or not (model or found.candidates.models):
        return NewScript(write_text(folder, _template(found, folder), force=force), None, to_fill_in=2)
    guessed = not model and not (found.candidates.models[0].is_likely and found.candidates.data)
    model = model or spelled(found.candidates.models[0], folder, found.script)
    data = data or next((spelled(c, folder, found.script) for c in found.candidates.data), "")
    remarks = [*_working(found.script), *(_others(found, folder) if guessed else ())]
    used_loss = loss or _own_loss(found)
    file = write_adapter(folder, found.script, model, data, used_loss, force=force, remarks=remarks)
    text = file.read_text(encoding="utf-8")
    unknown = text.count("# put your values here") + text.count("; put your values here")
    return NewScript(
        file, found.script, model, data, used_loss or "", unknown + text.count("raise NotImplementedError")
    )


def _own_loss(found: Survey) -> str | None:
    """A function called ``loss`` of a model is meant for us; any other is for the person to choose."""
    own = (one for one in found.candidates.losses if one.name == "loss" and Path(one.script) == found.script)
    return next((one.name for one in own if one.needs[:1] == ("model",)), None)


def _working(script: Path) -> list[str]:
    line = works_when_imported(tree_of(script))
    if line is None:
        return []
    where = f"{script.name} begins its work when it is imported (line {line})"
    return [f'{where}: move that under if __name__ == "__main__":']


def _others(found: Survey, root: Path) -> list[str]:
    """The other models of a folder in which no script says which of them it trains."""
    assert found.script is not None
    others = [spelled(one, root, found.script) for one in found.candidates.models[1 : 1 + _LISTED]]
    return [f"No script says which model it trains; others: {', '.join(others)}"] if others else []


def _template(found: Survey, root: Path) -> str:
    lines = [
        *_section("Could be data", found.candidates.data, root),
        *_section("Could be a loss", found.candidates.losses, root),
        *(f"# Not read: {sentence}" for sentence in found.unread[:_LISTED]),
    ]
    why = "nothing in this folder looks like a model for certain"
    return _TEMPLATE.format(why=why, listed="\n".join([*lines, ""]) if lines else "")


def _section(title: str, candidates: tuple[Candidate, ...], root: Path) -> list[str]:
    names = [f"#   {spelled(one, root, root)}{one.signature}" for one in candidates[:_LISTED]]
    return [f"# {title}:", *names] if names else []
