"""Candidates for model, data and loss, and the adapter written from them."""

import msgspec
import pytest
import torch

from landscope.contract.errors import OptionError, ScriptError
from landscope.contract.options import EngineOptions, ProjectSpec
from landscope.project.adapting.candidates import find_candidates, may_serve, write_adapter
from landscope.project.opening import open_subject

SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)

class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.block, self.out = Block(3), nn.Linear(3, 2)

    def forward(self, x):
        return self.out(self.block(x))

class Samples(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return torch.full((3,), float(i)), i % 2

def make_net():
    return Net()

def get_loaders(batch_size=5):
    return DataLoader(Samples(), batch_size=batch_size)

def split_data(split, shuffle=False):
    return DataLoader(Samples(), batch_size=5 if split == "train" else 10)

def label_loss(output, labels):
    return nn.functional.cross_entropy(output, labels)

def train(epochs):
    raise RuntimeError("not to be run")

criterion = nn.CrossEntropyLoss()

if __name__ == "__main__":
    train(3)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "src" / "train.py"
    path.parent.mkdir()
    path.write_text(SCRIPT)
    return path


def names(found):
    return [one.name for one in found]


def test_that_models_data_and_losses_are_found(script):
    found = find_candidates(script)
    assert names(found.models) == ["make_net", "Net", "Block"]
    assert set(names(found.data)) == {"get_loaders", "split_data", "Samples"}
    assert set(names(found.losses)) == {"label_loss", "criterion"}


def test_that_candidates_say_line_kind_and_parameters(script):
    block = find_candidates(script).models[-1]
    assert (block.kind, block.line, block.signature, block.needs) == ("class", 6, "(width)", ("width",))
    assert msgspec.to_builtins(block)["name"] == "Block"


def test_that_a_syntax_error_names_the_line(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\ndef build(:\n")
    with pytest.raises(ScriptError, match=r"^a\.py line 2: syntax error"):
        find_candidates(tmp_path / "a.py")


@pytest.mark.parametrize("loss", [None, "label_loss", "criterion"])
@pytest.mark.parametrize("data", ["get_loaders", "split_data", "Samples"])
@pytest.mark.parametrize("model", ["make_net", "Net"])
def test_that_the_adapter_works(tmp_path, script, model, data, loss):
    made = write_adapter(tmp_path, script, model, data, loss)
    spec = ProjectSpec(root=str(tmp_path), script=str(made), trusted=True, engine=EngineOptions(device="cpu"))
    subject = open_subject(spec)
    assert subject.data.samples("train") == 10
    assert subject.data.splits == (("train", "test") if data == "split_data" else ("train",))
    values = subject.loss(subject.model, subject.data.batches("train")[0])
    assert torch.isfinite(values).all()


def test_that_the_adapter_reaches_scripts_with_odd_names_and_packages(tmp_path):
    folder = tmp_path / "my code"
    folder.mkdir()
    (folder / "my model (v2).py").write_text(SCRIPT)
    package = tmp_path / "lib" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text(SCRIPT)
    (package / "train.py").write_text("from .parts import Net, get_loaders\n")
    for script in (folder / "my model (v2).py", package / "train.py"):
        made = write_adapter(tmp_path, script, "Net", "get_loaders")
        spec = ProjectSpec(
            root=str(tmp_path), script=str(made), trusted=True, engine=EngineOptions(device="cpu")
        )
        assert open_subject(spec).data.samples("train") == 10


@pytest.mark.parametrize(
    ("text", "serves"),
    [
        ("def build_model(): ...\ndef build_data(): ...", True),
        ("from a import build_model, build_data", True),
        ("from a import *", True),
        ("def build_model(:", True),
        ("from models import build_model", False),
    ],
)
def test_that_a_script_that_cannot_serve_is_known_by_its_text(tmp_path, text, serves):
    (tmp_path / "main.py").write_text(text)
    assert may_serve(tmp_path / "main.py") is serves


def test_that_somebody_elses_adapter_is_not_overwritten(tmp_path, script):
    mine = tmp_path / "landscope_project.py"
    mine.write_text("# mine\n")
    with pytest.raises(OptionError, match="written or edited by somebody"):
        write_adapter(tmp_path, script, "Net", "Samples")
    assert mine.read_text() == "# mine\n"
    mine.unlink()
    write_adapter(tmp_path, script, "Net", "Samples")
    write_adapter(tmp_path, script, "make_net", "Samples")
    assert "make_net" in mine.read_text()


def test_that_unknown_arguments_are_left_to_the_person(tmp_path, script):
    script.write_text(script.read_text().replace("Block(3)", "Block(random_width())"))
    made = write_adapter(tmp_path, script, "Block", "Samples")
    assert "_Block(width=None)  # put your values here" in made.read_text()


def test_that_arguments_are_as_the_script_itself_gives_them(tmp_path, script):
    made = write_adapter(tmp_path, script, "Block", "Samples")
    assert "_Block(width=3)" in made.read_text()
