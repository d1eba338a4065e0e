"""Checkpoints as trainers write them: weights, step and averages are found by one rule for all."""

import argparse
import collections
import datetime
import decimal
import enum
import functools
import pathlib
import random
import uuid
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

from landscope.checkpoints.discover import list_files
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.pickles import rebuilt
from landscope.checkpoints.read import load_tensors
from landscope.checkpoints.records import TensorRecord


class Net(nn.Module):
    """The network that the trainers train."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.out = nn.Linear(4, 2)


class Mode(enum.Enum):
    """A setting of a trainer."""

    FAST = 1


@dataclass
class Settings:
    """Settings of a trainer."""

    lr: float = 0.1
    mode: Mode = Mode.FAST


class Config(dict):
    """A dict of a trainer's own."""


Point = collections.namedtuple("Point", "x y")


def state(value=1.0):
    return {name: torch.full_like(t, value) for name, t in Net().state_dict().items()}


def module(value=1.0):
    net = Net()
    net.load_state_dict(state(value))
    return net


def optimizer():
    model = Net()
    found = torch.optim.Adam(model.parameters())
    model.out.weight.sum().backward()
    found.step()
    return found.state_dict()


def under(prefix, weights):
    return {prefix + name: tensor for name, tensor in weights.items()}


def part(prefix):
    return {n.removeprefix(prefix): t for n, t in state().items() if n.startswith(prefix)}


def swa():
    averaged = AveragedModel(module(1))
    averaged.n_averaged += 3
    return averaged.state_dict()


TRAINERS = {
    "timm": (
        {"epoch": 7, "state_dict": state(), "state_dict_ema": state(2), "optimizer": optimizer()},
        None,
        7,
    ),
    "lightning": (
        {
            "state_dict": under("model.", state()),
            "global_step": 40,
            "epoch": 2,
            "optimizer_states": [optimizer()],
        },
        40,
        2,
    ),
    "lightning callback": (
        {
            "state_dict": under("net.", state()),
            "global_step": 40,
            "callbacks": {"EMA{'decay': 0.9}": {"ema_state_dict": under("net.", state(2))}},
        },
        40,
        None,
    ),
    "mmengine": ({"meta": {"iter": 300, "epoch": 3}, "state_dict": state(), "message_hub": {}}, 300, 3),
    "ultralytics": ({"epoch": -1, "model": None, "ema": module(), "updates": 12, "train_args": {}}, 12, None),
    "fairseq": (
        {
            "cfg": argparse.Namespace(arch="x"),
            "model": state(),
            "last_optimizer_state": optimizer(),
            "optimizer_history": [{"num_updates": 500}],
            "extra_state": {"train_iterator": {"epoch": 4}},
        },
        500,
        4,
    ),
    "deepspeed": ({"module": state(), "global_steps": 60, "ds_version": "0.14", "ds_config": {}}, 60, None),
    "megatron": (
        {"iteration": 900, "model": {"language_model": {"body": part("body."), "out": part("out.")}}},
        900,
        None,
    ),
    "ignite": ({"model": state(), "trainer": {"iteration": 80, "epoch": 2}, "optimizer": optimizer()}, 80, 2),
    "catalyst": ({"model_state_dict": state(), "global_batch_step": 7, "epoch_index": 1}, 7, 1),
    "fastai": ({"model": state(), "opt": optimizer()}, None, None),
    "swa": ({"swa": swa()}, None, None),
    "composer": ({"state": {"model": state(), "timestamp": {"batch": 20, "epoch": 2}}, "rng": []}, 20, 2),
    "byol": ({"online": state(), "target_ema": state(2), "step": torch.tensor(3)}, None, None),
    "a list of modules": ({"models": [nn.Linear(9, 9), module()], "iteration": np.int64(5)}, 5, None),
    "a tuple": ((state(), optimizer(), 3), None, None),
    "a dict of its own kind": (Config(weights=Config(state()), step=4), 4, None),
    "three deep": ({"a": {"b": {"c": state()}}}, None, None),
}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_that_the_weights_and_the_step_of_a_trainer_are_found(tmp_path, trainer):
    content, step, epoch = TRAINERS[trainer]
    torch.save(content, tmp_path / "a.pt")
    entry = list_files(tmp_path, reference=Reference.of(Net())).entries["a.pt"]
    assert entry.info.state == "ready", entry.info.reason
    assert (entry.info.step, entry.info.epoch) == (step, epoch)
    found = load_tensors(entry.matched.tensors)
    assert set(found) == set(state()) and all((t == 1).all() for t in found.values())


EXTRAS = {
    "dataclass": Settings(),
    "datetime": datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC),
    "timedelta": datetime.timedelta(1),
    "decimal": decimal.Decimal("0.1"),
    "uuid": uuid.UUID(int=1),
    "enum": Mode.FAST,
    "namedtuple": Point(1, torch.ones(2)),
    "namespace": argparse.Namespace(lr=[1, {2}]),
    "path": pathlib.PurePosixPath("a/b"),
    "windows path": pathlib.PureWindowsPath("a\\b"),
    "defaultdict": collections.defaultdict(list, {"a": [1]}),
    "deque": collections.deque([1.0], maxlen=3),
    "counter": collections.Counter("abca"),
    "sets": [{1}, frozenset({2}), slice(1, 2), range(3), 1 + 2j, bytearray(b"x"), b"x"],
    "random": (random.getstate(), random.Random(0)),
    "numpy": [np.float64(1), np.bool_(True), np.arange(3), np.dtype("float32"), np.random.get_state()],
    "numpy generator": np.random.default_rng(0),
    "torch rng": torch.get_rng_state(),
    "types": [torch.float16, torch.device("cpu"), torch.Size([1]), nn.ReLU, len],
    "deep": functools.reduce(lambda inner, _: [inner], range(90), []),
    "recursive": (lambda found: found.append(found) or found)([]),
}


@pytest.mark.parametrize("kind", EXTRAS)
@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_that_whatever_lies_beside_the_weights_does_not_matter(tmp_path, kind, new):
    content = {"extra": EXTRAS[kind], "model": state(), "after": EXTRAS[kind], "epoch": 3}
    torch.save(content, tmp_path / "a.pt", _use_new_zipfile_serialization=new)
    entry = list_files(tmp_path, reference=Reference.of(Net())).entries["a.pt"]
    assert entry.info.state == "ready" and entry.info.epoch == 3, entry.info.reason
    assert "weights taken from 'model'" in entry.info.notes


def test_that_several_networks_of_a_file_are_offered(tmp_path):
    torch.save({"generator": state(1), "discriminator": state(2)}, tmp_path / "a.pt")
    reference = Reference.of(Net())
    info = list_files(tmp_path, reference=reference).entries["a.pt"].info
    assert info.sets == ("generator", "discriminator")
    assert (
        "other weights that fit are there too, under 'discriminator': choose the set of weights" in info.notes
    )
    other = list_files(tmp_path, reference=reference, wanted="discriminator").entries["a.pt"]
    assert (load_tensors(other.matched.tensors)["out.bias"] == 2).all()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([torch.ones(2), torch.ones(3)], "a list of tensors without names"),
        (torch.ones(2), "a single tensor without a name"),
        ({}, "no parameters found"),
        (3, "no parameters found"),
        ({"param_groups": [], "state": {}}, "optimizer state only"),
        ({"last_epoch": 3, "_step_count": 4}, "scheduler state only"),
    ],
)
def test_that_files_without_weights_say_what_they_hold(tmp_path, content, says):
    torch.save(content, tmp_path / "a.pt")
    (info,) = list_files(tmp_path).listed.others
    assert info.reason.startswith(says)


def test_that_a_small_view_of_a_big_storage_is_read_alone(tmp_path):
    big = torch.arange(10_000.0)
    torch.save({"w": big[:4].reshape(2, 2), "b": big[5:7]}, tmp_path / "a.pt")
    found = load_tensors(list_files(tmp_path).entries["a.pt"].matched.tensors)
    assert found["w"].tolist() == [[0, 1], [2, 3]] and found["w"].untyped_storage().nbytes() == 16


def test_that_an_expanded_tensor_of_terabytes_is_refused(tmp_path):
    torch.save({"w": torch.zeros(1).expand(1 << 40)}, tmp_path / "a.pt")
    (info,) = list_files(tmp_path).listed.others
    assert info.reason == "w claims more data than its storage holds"


@pytest.mark.parametrize("kind", [torch.nn.Parameter, torch.nn.Buffer])
def test_that_parameters_and_buffers_are_tensors(tmp_path, kind):
    torch.save({name: kind(t.float()) for name, t in state().items()}, tmp_path / "a.pt")
    assert list_files(tmp_path, reference=Reference.of(Net())).entries["a.pt"].matched is not None


class Tagged(torch.Tensor):
    """A subclass of a tensor with an attribute."""


def test_that_subclasses_of_tensors_are_read_plain_and_named(tmp_path):
    tagged = {name: torch.Tensor._make_subclass(Tagged, t.float()) for name, t in state().items()}
    tagged["out.bias"].tag = "x"
    torch.save(tagged, tmp_path / "a.pt")
    info = list_files(tmp_path, reference=Reference.of(Net())).entries["a.pt"].info
    assert info.state == "ready" and any("Tagged" in note for note in info.notes)


def test_that_shards_of_a_distributed_tensor_are_refused_with_both_shapes():
    whole = rebuilt.without_data("", (8, 3))
    local = TensorRecord("float32", (4, 3), (3, 1), None)
    assert rebuilt._local_part(whole, (None, {"_local_tensor": local})).problem == (
        "is one shard (4, 3) of a DTensor of shape (8, 3); save the full state dict"
    )
