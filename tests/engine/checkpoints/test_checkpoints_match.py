"""Fitting files to a model: the one mapping that fits, or a refusal that names what is wrong."""

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from landscope.checkpoints.header import read_header
from landscope.checkpoints.mappings import find_mappings
from landscope.checkpoints.match import Reference, match
from landscope.checkpoints.read import load_tensors
from landscope.contract.errors import CheckpointError


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.out = nn.Linear(4, 2)


@pytest.fixture
def state():
    torch.manual_seed(0)
    return Net().state_dict()


def matched(tmp_path, content, model=None):
    torch.save(content, tmp_path / "a.pt")
    return match(find_mappings(read_header(tmp_path / "a.pt")), Reference.of(model or Net()), "a.pt")


def assert_fits(found, state):
    tensors = load_tensors(found.tensors)
    assert set(tensors) == set(state)
    assert all(torch.equal(tensors[name], state[name]) for name in state)


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod.", "model.", "net.backbone."])
def test_that_prefixes_are_removed_and_said(tmp_path, state, prefix):
    found = matched(tmp_path, {prefix + name: tensor for name, tensor in state.items()})
    assert_fits(found, state)
    assert any(note.startswith("removed prefix") for note in found.notes)


def test_that_a_prefix_the_file_lacks_is_added(tmp_path, state):
    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

    found = matched(tmp_path, state, Wrapper())
    assert set(found.tensors) == {f"net.{name}" for name in state}
    assert "added prefix net." in found.notes


@pytest.mark.parametrize(
    ("wrap", "path"),
    [
        (lambda s: {"epoch": 1, "state_dict": s}, "state_dict"),
        (lambda s: {"model": {"state_dict": s, "args": {}}}, "model.state_dict"),
        (lambda s: {"generator": {"w": torch.zeros(3)}, "models": [s]}, "models.0"),
    ],
)
def test_that_weights_are_found_at_any_depth(tmp_path, state, wrap, path):
    found = matched(tmp_path, wrap(state))
    assert_fits(found, state)
    assert f"weights taken from '{path}'" in found.notes


def test_that_plain_weights_come_before_averaged_ones(tmp_path, state):
    average = {name: torch.zeros_like(tensor) for name, tensor in state.items()}
    found = matched(tmp_path, {"model_ema": average, "model": state})
    assert_fits(found, state)
    assert any("model_ema" in note for note in found.notes)


def test_that_entries_of_others_are_ignored_and_said(tmp_path, state):
    stored = {f"model.{name}": tensor for name, tensor in state.items()} | {"loss.weight": torch.ones(2)}
    found = matched(tmp_path, {"state_dict": stored})
    assert_fits(found, state)
    assert any("loss.weight" in note for note in found.notes)


def test_that_missing_buffers_are_a_note(tmp_path, state):
    found = matched(tmp_path, {n: t for n, t in state.items() if "running" not in n})
    assert any("2 buffers missing" in note for note in found.notes)


def test_that_a_missing_parameter_refuses_the_file_by_name(tmp_path, state):
    del state["out.bias"]
    with pytest.raises(CheckpointError, match=r"1 of 6 parameters .*out\.bias"):
        matched(tmp_path, state)


def test_that_another_shape_refuses_the_file_with_both_shapes(tmp_path, state):
    state["out.weight"] = torch.zeros(5, 4)
    with pytest.raises(CheckpointError, match=r"out\.weight has shape \(5, 4\), the model wants \(2, 4\)"):
        matched(tmp_path, state)


def test_that_a_tied_name_the_file_dropped_is_found(tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(5, 3)
            self.head = nn.Linear(3, 5, bias=False)
            self.head.weight = self.embed.weight

    found = matched(tmp_path, {"embed.weight": torch.ones(5, 3)}, Tied())
    assert set(found.tensors) == {"embed.weight", "head.weight"}


def test_that_both_spellings_of_weight_norm_fit(tmp_path):
    model = nn.Sequential(weight_norm(nn.Linear(3, 2)))
    stored = {"0.weight_g": torch.ones(2, 1), "0.weight_v": torch.ones(2, 3), "0.bias": torch.zeros(2)}
    found = matched(tmp_path, stored, model)
    assert tuple(found.tensors["0.parametrizations.weight.original0"].shape) == (2, 1)
    assert "weight_norm names translated" in found.notes
