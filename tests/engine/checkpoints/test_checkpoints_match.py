"""Fitting files to a model: the one mapping that fits, or a refusal that names what is wrong."""

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

from landscope.checkpoints.files.header import read_header
from landscope.checkpoints.files.mappings import find_mappings
from landscope.checkpoints.matching.match import match
from landscope.checkpoints.matching.reference import Reference
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


@pytest.mark.parametrize(
    "rename",
    [
        lambda n: "model.module.net." + n,
        lambda n: "module.module." + n,
        lambda n: "_forward_module.model._orig_mod." + n,
        lambda n: n.replace("body.", "body.module."),
        lambda n: n.replace("body.", "body._orig_mod."),
        lambda n: n.replace("body.0", "body._checkpoint_wrapped_module.0"),
        lambda n: "_fsdp_wrapped_module." + n.replace("body.", "body._fsdp_wrapped_module."),
    ],
)
def test_that_wrappers_are_seen_through_wherever_they_stand(tmp_path, state, rename):
    assert_fits(matched(tmp_path, {rename(name): tensor for name, tensor in state.items()}), state)


@pytest.mark.parametrize("wrapper", ["module", "_orig_mod", "net"])
@pytest.mark.parametrize("stored", ["", "module.", "_orig_mod.", "module._orig_mod."])
def test_that_the_model_may_be_wrapped_as_well(tmp_path, state, wrapper, stored):
    model = nn.Module()
    model.add_module(wrapper, Net())
    found = matched(tmp_path, {stored + name: tensor for name, tensor in state.items()}, model)
    assert set(found.tensors) == {f"{wrapper}.{name}" for name in state}


def test_that_parts_saved_apart_are_put_together(tmp_path, state):
    parts = {
        part: {n.removeprefix(f"{part}."): t for n, t in state.items() if n.startswith(part)}
        for part in ("body", "out")
    }
    found = matched(tmp_path, {"nets": parts, "optimizer": {"state": {}, "param_groups": []}})
    assert_fits(found, state)
    assert "weights taken from 'nets.body + out'" in found.notes


def test_that_a_renamed_parameter_is_refused_with_both_names(tmp_path, state):
    state["head.bias"] = state.pop("out.bias")
    with pytest.raises(CheckpointError, match=r"missing: out\.bias; the file has head\.bias instead"):
        matched(tmp_path, state)


@pytest.mark.parametrize(
    ("change", "shape"),
    [(lambda w: w.T.contiguous(), r"\(4, 2\)"), (lambda w: w.reshape(-1), r"\(8,\)")],
    ids=["transposed", "reshaped"],
)
def test_that_the_same_numbers_in_another_shape_are_another_shape(tmp_path, state, change, shape):
    state["out.weight"] = change(state["out.weight"])
    with pytest.raises(CheckpointError, match=rf"out\.weight has shape {shape}, the model wants \(2, 4\)"):
        matched(tmp_path, state)


def test_that_a_buffer_of_another_shape_refuses_the_file(tmp_path, state):
    state["body.1.running_mean"] = torch.zeros(5)
    with pytest.raises(CheckpointError, match=r"running_mean has shape \(5,\), the model wants \(4,\)"):
        matched(tmp_path, state)


def test_that_old_names_of_spectral_norm_fit_new_ones(tmp_path):
    model = nn.Sequential(spectral_norm(nn.Linear(3, 2)))
    stored = {"0.bias": torch.zeros(2), "0.weight_orig": torch.ones(2, 3), "0.weight_u": torch.ones(2)}
    found = matched(tmp_path, stored | {"0.weight_v": torch.ones(3)}, model)
    assert set(found.tensors) == set(model.state_dict())


@pytest.mark.parametrize(
    ("stored", "model", "says"),
    [
        (weight_norm(nn.Linear(3, 2)), nn.Linear(3, 2), "parametrise the model likewise"),
        (nn.Linear(3, 2), weight_norm(nn.Linear(3, 2)), "the model is parametrised"),
    ],
)
def test_that_parametrisations_on_one_side_only_are_explained(tmp_path, stored, model, says):
    with pytest.raises(CheckpointError, match=says):
        matched(tmp_path, stored.state_dict(), model)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("base.q.lora_A.weight", "base.q.lora_B.weight"), "adapter"),
        (("_fsdp_wrapped_module._flat_param",), "FULL_STATE_DICT"),
    ],
)
def test_that_files_without_whole_weights_are_named_for_what_they_are(tmp_path, names, says):
    with pytest.raises(CheckpointError, match=says):
        matched(tmp_path, {name: torch.zeros(2, 2) for name in names})


def test_that_partitions_of_deepspeed_are_named(tmp_path, state):
    module = {name: torch.empty(0) for name in state}
    with pytest.raises(CheckpointError, match="zero_to_fp32"):
        matched(tmp_path, {"module": module, "param_shapes": [], "ds_version": "0.14"})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda w: w.to_sparse(), "is sparse"),
        (lambda w: w.to_sparse_csr(), "is sparse"),
        (lambda w: w.to("meta"), "no data in the file"),
        (lambda w: w.numpy(), "NumPy array"),
        (lambda w: w.new_zeros(1).expand(2, 4), "claims more data"),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_that_a_tensor_that_cannot_be_read_refuses_the_file_by_name(tmp_path, state, make, says):
    state["out.weight"] = make(state["out.weight"])
    with pytest.raises(CheckpointError, match=rf"out\.weight .*{says}"):
        matched(tmp_path, state)


def test_that_an_optimizer_is_never_taken_for_weights(tmp_path, state):
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    sum(p.sum() for p in model.parameters()).backward()
    optimizer.step()
    torch.save({"opt": optimizer.state_dict(), "state": {"model": state}}, tmp_path / "b.pt")
    assert [c.path for c in find_mappings(read_header(tmp_path / "b.pt"))] == ["state.model"]


def test_that_modules_pickled_in_a_list_are_found(tmp_path, state):
    model = Net()
    model.load_state_dict(state)
    found = matched(tmp_path, {"models": [nn.Linear(1, 1), nn.DataParallel(model)]})
    assert_fits(found, state)
    assert "weights taken from 'models.1'" in found.notes


def test_that_one_tensor_is_never_two_parameters(tmp_path):
    model = nn.Module()
    model.weight = nn.Parameter(torch.zeros(2))
    model.net = nn.Module()
    model.net.weight = nn.Parameter(torch.zeros(2))
    with pytest.raises(CheckpointError, match=r"1 of 2 parameters of the model are missing: net\.weight"):
        matched(tmp_path, {"weight": torch.ones(2)}, model)


def test_that_names_that_would_become_one_are_kept_apart(tmp_path):
    model = nn.Module()
    model.add_module("_orig_mod", nn.Linear(3, 2))
    model.weight = nn.Parameter(torch.zeros(2, 3))
    stored = {name: torch.full_like(t, n) for n, (name, t) in enumerate(model.state_dict().items())}
    found = load_tensors(matched(tmp_path, stored, model).tensors)
    assert all(torch.equal(found[name], stored[name]) for name in stored)


@pytest.mark.parametrize(("dtype", "says"), [(torch.int8, "holds integers"), (torch.complex64, "is complex")])
def test_that_numbers_of_another_kind_are_never_taken_for_weights(tmp_path, state, dtype, says):
    state["out.weight"] = torch.ones(2, 4, dtype=dtype)
    with pytest.raises(CheckpointError, match=rf"out\.weight {says}.* where the model has float32"):
        matched(tmp_path, state)


def test_that_other_types_of_the_same_numbers_are_converted_and_said(tmp_path, state):
    state["out.weight"], state["out.bias"] = state["out.weight"].half(), state["out.bias"].double()
    note = "2 tensors converted to the model's type: out.weight (float16), out.bias (float64)"
    assert note in matched(tmp_path, state).notes


def test_that_all_other_shapes_are_told(tmp_path, state):
    state["out.weight"], state["out.bias"] = torch.zeros(5, 4), torch.zeros(5)
    with pytest.raises(CheckpointError, match=r"out\.bias has shape \(5,\), the model wants \(2,\)$"):
        matched(tmp_path, state)


def test_that_averages_by_torch_are_known_by_their_count(tmp_path, state):
    averaged = torch.optim.swa_utils.AveragedModel(Net()).state_dict()
    found = matched(tmp_path, {"a": state, "b": averaged})
    assert found.sets == ("a", "b") and "averaged weights are there too, under 'b'" in found.notes
