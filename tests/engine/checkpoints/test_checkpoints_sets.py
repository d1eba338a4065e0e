"""Files with several sets of weights: which one is used, which are named, and how another is asked for."""

import numpy as np
import pytest
import torch
from torch import nn

from landscope.checkpoints.discover import list_run
from landscope.checkpoints.files.header import read_header
from landscope.checkpoints.files.mappings import find_mappings, is_average
from landscope.checkpoints.matching.match import choose, match
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.read import load_tensors
from landscope.contract.errors import CheckpointError


def state(value):
    return {name: torch.full_like(t, value) for name, t in nn.Linear(3, 2).state_dict().items()}


def prefixed(prefix, value):
    return {prefix + name: tensor for name, tensor in state(value).items()}


@pytest.fixture
def candidates(tmp_path):
    def of(content):
        torch.save(content, tmp_path / "a.pt")
        return find_mappings(read_header(tmp_path / "a.pt"))

    return of


def fitted(found, wanted=""):
    return match(found, Reference.of(nn.Linear(3, 2)), "a.pt", wanted)


def value(matched):
    return load_tensors(matched.tensors)["weight"][0, 0].item()


def test_that_one_set_alone_has_no_names_to_choose_from(candidates):
    assert fitted(candidates({"model": state(1), "epoch": 3})).sets == ()


def test_that_the_plain_set_is_used_and_all_are_named(candidates):
    found = fitted(candidates({"state_dict_ema": state(2), "state_dict": state(1)}))
    assert value(found) == 1
    assert found.sets == ("state_dict", "state_dict_ema")
    assert "averaged weights are there too, under 'state_dict_ema'" in found.notes


@pytest.mark.parametrize("wanted", ["train.model_ema", "model_ema", "averaged"])
def test_that_another_set_is_found_by_path_name_or_kind(candidates, wanted):
    found = fitted(candidates({"train": {"model": state(1), "model_ema": state(2)}}), wanted)
    assert value(found) == 2
    assert found.sets == ("train.model_ema", "train.model")
    assert "these are averaged weights" in found.notes


def test_that_a_set_that_is_not_there_refuses_the_file_and_names_those_that_are(candidates):
    found = candidates({"model": state(1), "model_ema": state(2)})
    with pytest.raises(CheckpointError, match=r"no set of weights named 'teacher', only model, model_ema"):
        fitted(found, "teacher")
    with pytest.raises(CheckpointError, match=r"no set of weights named 'averaged', only model$"):
        fitted(candidates({"model": state(1)}), "averaged")


def test_that_a_wanted_set_that_does_not_fit_is_refused_with_both_shapes(candidates):
    found = candidates({"model": state(1), "model_ema": nn.Linear(4, 2).state_dict()})
    with pytest.raises(CheckpointError, match=r"weight has shape \(2, 4\), the model wants \(2, 3\)"):
        fitted(found, "model_ema")


def test_that_two_networks_in_one_mapping_are_two_sets(candidates):
    found = candidates({"state_dict": {**prefixed("ema_model.", 2), **prefixed("model.", 1)}})
    assert value(fitted(found)) == 1
    assert fitted(found).sets == ("state_dict.model", "state_dict.ema_model")
    assert value(fitted(found, "averaged")) == 2
    assert value(fitted(found, "ema_model")) == 2


@pytest.mark.parametrize(
    "name",
    ["ema", "model_ema", "EMA{'decay': 0.9}", "emaModel", "modelEma", "netEMA", "EMACallback", "swa_model"],
)
def test_that_averages_are_known_by_their_names(name):
    assert is_average(name) and is_average(f"train.{name}.weights")


@pytest.mark.parametrize(
    "name", ["model", "schema", "cinema.net", "swap", "SCHEMA", "emails", "state_dict", ""]
)
def test_that_other_names_are_no_averages(name):
    assert not is_average(name)


def test_that_the_same_tensors_under_two_names_are_one_set(candidates):
    weights = state(1)
    assert fitted(candidates({"model": weights, "copy": dict(weights)})).sets == ()


def test_that_without_a_model_the_plausible_sets_are_named(candidates):
    found = candidates({"generator": state(1), "discriminator": state(2), "epoch": torch.tensor(3)})
    chosen, names = choose(found)
    assert chosen.path == "generator" and names == ("generator", "discriminator")
    assert choose(found, "discriminator")[0].path == "discriminator"


def test_that_without_a_model_an_average_in_the_same_mapping_is_told_apart(candidates):
    averaged = {**prefixed("ema_model.module.", 2), "ema_model.n_averaged": torch.tensor(3)}
    found = candidates({"state_dict": {**prefixed("model.", 1), **averaged}})
    chosen, names = choose(found)
    assert set(chosen.tensors) == {"weight", "bias"}
    assert names == ("state_dict.model", "state_dict.ema_model") == fitted(found).sets
    assert set(choose(found, "averaged")[0].tensors) == {"module.weight", "module.bias"}


def test_that_without_a_model_a_buffer_of_samples_is_no_network(candidates):
    """However large it is, and whatever else is in the file."""
    samples = {"observations": torch.zeros(5000, 4), "rewards": torch.zeros(5000)}
    found = candidates({"replay": samples, "actor": state(1), "critic": state(2)})
    chosen, names = choose(found)
    assert chosen.path == "actor" and names == ("actor", "critic")
    assert choose(found, "replay")[0].path == "replay"
    assert choose(candidates({"replay": samples}))[0].path == "replay"


def test_that_without_a_model_logged_arrays_are_no_set_of_weights(candidates):
    found = candidates({"state_dict": state(1), "log": {"loss": np.arange(9.0), "time": np.arange(9.0)}})
    assert choose(found)[1] == ()


def test_that_without_a_model_an_average_of_torch_agrees_with_plain_files(tmp_path):
    average = torch.optim.swa_utils.AveragedModel(nn.Linear(3, 2))
    torch.save(average.state_dict(), tmp_path / "swa.pt")
    for epoch in (1, 2):
        torch.save(state(epoch), tmp_path / f"epoch_{epoch}.pt")
    last = list_run(tmp_path).checkpoints[-1]
    assert last.name == "swa.pt" and "these are averaged weights" in last.notes


def test_that_without_a_model_a_missing_set_is_refused_by_name(candidates):
    found = candidates({"model": state(1), "model_ema": state(2)})
    assert choose(found, "averaged")[0].path == "model_ema"
    with pytest.raises(CheckpointError, match="no set of weights named 'teacher', only model, model_ema"):
        choose(found, "teacher")
    with pytest.raises(CheckpointError, match="no weights found"):
        choose(())


def test_that_one_set_without_a_model_has_no_names_to_choose_from(candidates):
    chosen, names = choose(candidates(state(1)))
    assert chosen.path == "" and names == ()


def test_that_thousands_of_small_tables_do_not_hide_the_weights(candidates):
    tables = {f"table{number}": {"value": torch.ones(1)} for number in range(2000)}
    found = candidates({"tables": tables, "model": state(1)})
    assert value(fitted(found)) == 1
    with pytest.raises(CheckpointError, match="no tensor has a name that the model knows"):
        fitted(found, "table7")


@pytest.mark.parametrize("key", ["a\x1b[31mred", "line\nbreak", "\udcff", "x" * 5000, "größe"])
def test_that_names_of_sets_can_be_shown(candidates, key):
    chosen, names = choose(candidates({"model": state(1), key: state(2)}))
    assert chosen.path == "model" and names[1].isprintable() and len(names[1]) <= 120
    assert value(fitted(candidates({"model": state(1), key: state(2)}), names[1])) == 2
