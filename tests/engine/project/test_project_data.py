"""Data: drawn once, cut exactly, frozen; batches of any nesting."""

from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from landscope.contract.errors import DataError
from landscope.project.batching.batches import can_cut, changed, count_samples, cut, frozen, moved
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.data import _MovedBatches
from landscope.project.opening import open_subject

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

def build_model():
    return nn.Linear(3, 2)

"""


def data_of(project, body, **options):
    return open_subject(project(HEAD + body, **options)).data


def test_that_samples_are_cut_exactly(project):
    body = "def build_data():\n    return [(torch.ones(8, 3), torch.zeros(8).long())] * 5\n"
    data = data_of(project, body, samples=20)
    assert [batch.size for batch in data.batches("train")] == [8, 8, 4]
    assert data.samples("train") == 20
    assert [len(batch.value[0]) for batch in data.batches("train")] == [8, 8, 4]


def test_that_endless_and_one_shot_data_are_taken_from_once(project):
    body = """
def build_data():
    def stream():
        k = 0
        while True:
            yield torch.full((4, 3), float(k)), torch.zeros(4).long()
            k += 1
    return stream()
"""
    data = data_of(project, body, samples=10)
    assert [batch.value[0][0, 0].item() for batch in data.batches("train")] == [0, 1, 2]
    assert data.population("train") is None


def test_that_endless_data_without_a_limit_is_refused(project):
    body = """
def build_data():
    x, y = torch.ones(1, 3).expand(900_000, 3), torch.zeros(1).long().expand(900_000)
    while True:
        yield x, y
"""
    with pytest.raises(DataError, match="does not end"):
        data_of(project, body, samples=0)


def test_that_a_shuffling_and_augmenting_loader_is_frozen_and_repeatable(project):
    body = """
class Noisy(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return torch.randn(3) + i, i % 2

def build_data():
    return DataLoader(Noisy(), batch_size=4, shuffle=True)
"""
    data = data_of(project, body)
    first, again = (torch.cat([b.value[0] for b in data.batches("train")]) for _ in range(2))
    assert torch.equal(first, again)
    anew = torch.cat([b.value[0] for b in data_of(project, body).batches("train")])
    assert torch.equal(first, anew)
    other = torch.cat([b.value[0] for b in data_of(project, body, seed=1).batches("train")])
    assert not torch.equal(first, other)


def test_that_worker_processes_are_switched_off_and_said(project):
    body = """
def build_data():
    data = TensorDataset(torch.ones(6, 3), torch.zeros(6).long())
    return DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True, collate_fn=lambda rows: (
        torch.stack([r[0] for r in rows]), torch.stack([r[1] for r in rows])))
"""
    subject = open_subject(project(HEAD + body))
    assert subject.data.samples("train") == 6
    assert any("num_workers" in notice.sentence for notice in subject.notices)


def test_that_a_buffer_which_the_loader_reuses_is_copied(project):
    body = """
def build_data():
    x = torch.zeros(2, 3)
    for k in range(3):
        x.fill_(k)
        yield x, torch.zeros(2).long()
"""
    data = data_of(project, body)
    assert [batch.value[0][0, 0].item() for batch in data.batches("train")] == [0, 1, 2]


def test_that_splits_are_drawn_apart(project):
    body = """
def build_data(split):
    if split == "test":
        return [(torch.ones(2, 3), torch.zeros(2).long())]
    return [(torch.zeros(5, 3), torch.zeros(5).long())]
"""
    data = data_of(project, body)
    assert data.splits == ("train", "test")
    assert (data.samples("train"), data.samples("test")) == (5, 2)
    with pytest.raises(DataError, match="no split 'valid'"):
        data.batches("valid")


def test_that_a_missing_test_split_is_a_notice(project):
    body = """
def build_data(split):
    return [(torch.zeros(5, 3), torch.zeros(5).long())] if split == "train" else None
"""
    subject = open_subject(project(HEAD + body))
    assert subject.data.splits == ("train",)
    assert any("left out" in notice.sentence for notice in subject.notices)


def test_that_batches_are_recut_on_request(project):
    body = "def build_data():\n    return [(torch.ones(10, 3), torch.zeros(10).long())]\n"
    data = data_of(project, body, batch_size=4)
    assert [batch.size for batch in data.batches("train")] == [4, 4, 2]


def test_that_a_function_of_the_script_counts_samples(project):
    body = """
def build_data():
    return [(torch.ones(7, 4, 3), torch.zeros(4).long())]

def batch_size(batch):
    return batch[0].shape[1]

def loss(model, batch):
    return nn.functional.cross_entropy(model(batch[0]).mean(0), batch[1])
"""
    subject = open_subject(project(HEAD + body, samples=3))
    assert subject.data.samples("train") == 4  # time comes first: the batch cannot be cut
    assert any("cannot be cut" in notice.sentence for notice in subject.notices)


Pair = namedtuple("Pair", "x y")


@dataclass
class Boxed:
    x: torch.Tensor
    note: str = "kept"


x, y = torch.zeros(6, 3), torch.zeros(6)
NESTED = [
    ((x, y), 6),
    ([x, y], 6),
    (Pair(x, y), 6),
    ({"x": x, "y": y, "text": ["a"] * 6}, 6),
    (((x, torch.zeros(6, 2)), y), 6),
    ([[x, torch.zeros(6, 2)], y], 6),
    (([x, torch.zeros(9, 3)], y), 6),
    (Boxed(x), 6),
    (([torch.zeros(3, 4)] * 5, [{"boxes": torch.zeros(1, 4)}] * 5), 5),
    (torch.zeros(4), 4),
]


@pytest.mark.parametrize(("batch", "size"), NESTED)
def test_that_samples_are_counted_in_any_nesting(batch, size):
    assert count_samples(batch) == size


@pytest.mark.parametrize("batch", [batch for batch, size in NESTED if can_cut(batch, size)])
def test_that_a_cut_keeps_the_kind_and_slices_everything(batch):
    part = cut(batch, count_samples(batch), 1, 3)
    assert type(part) is type(batch) and count_samples(part) == 2 and can_cut(part, 2)
    if isinstance(batch, dict):
        assert part["text"] == ["a", "a"]


def test_that_freezing_keeps_everything_else():
    batch = {"x": x, "none": None, "text": "t", "deep": [(y, 3)], "box": Boxed(x)}
    kept = frozen(batch)
    assert kept["none"] is None and kept["text"] == "t" and kept["deep"][0][1] == 3
    assert kept["box"].note == "kept" and kept["x"] is not x and torch.equal(kept["x"], x)


def test_that_packed_sequences_move_themselves():
    packed = pack_sequence([torch.ones(3, 2), torch.ones(1, 2)])
    assert torch.equal(moved(frozen(packed), torch.device("cpu")).data, packed.data)


def test_that_half_precision_is_widened_on_request():
    batch = (torch.ones(2, dtype=torch.bfloat16), torch.zeros(2).long())
    wide = moved(batch, torch.device("cpu"), as_float32=True)
    assert [part.dtype for part in wide] == [torch.float32, torch.int64]
    assert changed(batch, lambda t: t + 1)[1].tolist() == [1, 1]


def test_that_batches_too_large_for_the_device_move_one_by_one():
    stored = tuple(FrozenBatch((torch.full((2,), float(k)),), 2, "train", k, 3) for k in range(3))
    batches = _MovedBatches(stored, torch.device("cpu"))
    assert [batch.value[0][0].item() for batch in batches] == [0, 1, 2]
    assert len(batches[1:]) == 2 and batches[-1].index == 2


class Graphs:
    """Like a batch of graphs: no container, moves itself, knows its number."""

    num_graphs = 4

    def __init__(self) -> None:
        self.x, self.edges = torch.zeros(30, 3), torch.zeros(2, 50)

    def to(self, device):
        return self


@pytest.mark.parametrize(
    ("batch", "size"),
    [
        ({"edges": torch.zeros(2, 30), "x": x, "y": y}, 6),
        ({"edges": torch.zeros(2, 30), "x": x, "mask": torch.zeros(6)}, 6),
        ((torch.zeros(2, 30), x, y), 6),
        ((x.numpy(), y.numpy()), 6),
        ({"x": x.numpy(), "name": "a"}, 6),
        ((torch.nested.nested_tensor([x, x[:2]], layout=torch.jagged), y[:2]), 2),
        ((x.to_sparse(), y), 6),
        (Graphs(), 4),
        (SimpleNamespace(x=x, y=y, name="a"), 6),
        ("text", 1),
    ],
)
def test_that_batches_of_odd_kinds_are_counted_and_frozen(batch, size):
    assert count_samples(batch) == size
    assert type(frozen(batch)) is type(batch)
    assert not can_cut(batch, size)
