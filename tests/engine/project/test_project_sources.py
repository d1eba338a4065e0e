"""What build_data may give: loaders, data sets, whole arrays, several splits; how much of it is drawn."""

import re

import pytest
import torch

from landscope.contract.errors import DataError, JobCancelled
from landscope.contract.events import Progress
from landscope.contract.job import CancelToken
from landscope.project.batching import draw
from landscope.project.opening import open_subject, opening

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, TensorDataset, get_worker_info

X, Y = torch.arange(120.0).reshape(40, 3), torch.arange(40) % 2

def build_model():
    return nn.Linear(3, 2)

"""
PARTS = "    a, b, c = (DataLoader(TensorDataset(X[:n], Y[:n]), batch_size=8) for n in (40, 8, 16))\n"


def opened(project, body, **options):
    return open_subject(project(HEAD + "def build_data():\n" + body, **options))


def sizes(subject):
    data = subject.data
    return {split: [batch.size for batch in data.batches(split)] for split in data.splits}


@pytest.mark.parametrize(
    ("body", "found", "said"),
    [
        ("    return TensorDataset(X, Y)\n", {"train": [40]}, "a data set, which is read in batches of 128"),
        ("    return X, Y\n", {"train": [40]}, r"whole arrays, which are read as \(input, labels\)"),
        ("    return [X.numpy(), Y.numpy()]\n", {"train": [40]}, "whole arrays"),
        ("    return [(x, int(y)) for x, y in zip(X, Y)]\n", {"train": [40]}, "a list of single samples"),
        ("    return list(zip(X, Y))\n", {"train": [40]}, "a list of single samples"),
        (PARTS + "    return {'val': b, 'train': a}\n", {"train": [8] * 5, "test": [8]}, "'val' as test"),
        (PARTS + "    return a, b\n", {"train": [8] * 5, "test": [8]}, "'train' is used as train"),
        (PARTS + "    return a, b, c\n", {"train": [8] * 5, "test": [8, 8]}, "'test' as test"),
        (PARTS + "    return {'only': a}\n", {"train": [8] * 5}, "'only' is used as train"),
    ],
)
def test_that_what_is_no_loader_is_made_one_and_said(project, body, found, said):
    subject = opened(project, body)
    assert sizes(subject) == found
    assert any(re.search(said, notice.sentence) for notice in subject.notices)


def test_that_a_lightning_data_module_gives_its_loaders(project):
    body = """    class Module:
        def setup(self, stage):
            self.data = TensorDataset(X, Y)
        def train_dataloader(self):
            return DataLoader(self.data, batch_size=20)
        def val_dataloader(self):
            return DataLoader(self.data, batch_size=40)
    return Module()
"""
    assert sizes(opened(project, body)) == {"train": [20, 20], "test": [40]}


def test_that_two_batches_of_one_kind_stay_batches(project):
    body = "    return [X[:8], X[8:16]]\ndef loss(model, batch):\n    return model(batch).mean()\n"
    assert sizes(opened(project, body)) == {"train": [8, 8]}


def test_that_empty_batches_are_left_out(project):
    assert sizes(opened(project, "    return [(X[:8], Y[:8]), (X[:0], Y[:0])]\n")) == {"train": [8]}


def test_that_data_made_for_workers_and_epochs_is_read_without(project):
    body = """    class Shards(IterableDataset):
        def __iter__(self):
            me = get_worker_info()
            yield from ((X[i], Y[i]) for i in range(me.id, 40, me.num_workers))
    return DataLoader(Shards(), batch_size=8, num_workers=2, persistent_workers=True, prefetch_factor=4)
"""
    assert sizes(opened(project, body)) == {"train": [8] * 5}
    assert torch.utils.data.get_worker_info() is None
    body = """    class Shuffled(Sampler):
        def set_epoch(self, epoch):
            self.epoch = epoch
        def __iter__(self):
            return iter(torch.randperm(40, generator=torch.Generator().manual_seed(self.epoch)).tolist())
    return DataLoader(TensorDataset(X, Y), batch_size=20, sampler=Shuffled())
"""
    assert sizes(opened(project, body)) == {"train": [20, 20]}


ENDLESS = "    while True:\n        yield X[:8], Y[:8]\n"


def test_that_endless_data_is_noticed_by_time_and_by_bytes(project, monkeypatch):
    moments = iter(range(10_000))
    monkeypatch.setattr(draw, "clock", lambda: float(next(moments)))
    with pytest.raises(DataError, match=r"does not end \(\d+ samples after 3\d s\); set a number of samples"):
        opened(project, ENDLESS, samples=0)
    monkeypatch.setattr(draw, "clock", lambda: 0.0)
    monkeypatch.setattr(draw, "_ENDLESS_BYTES", 10_000)
    with pytest.raises(DataError, match=r"does not end \(504 samples after 0 s\)"):
        opened(project, ENDLESS, samples=0)


def test_that_data_beyond_the_memory_is_refused(project, monkeypatch):
    monkeypatch.setattr(draw, "most_bytes", lambda: 300)
    with pytest.raises(DataError, match=r"16 samples of 'train' take more than .* set a smaller number"):
        opened(project, "    return [(X[i:i + 8], Y[i:i + 8]) for i in range(0, 40, 8)]\n")


def test_that_drawing_says_how_far_it_is_and_can_be_cancelled(project, monkeypatch):
    monkeypatch.setattr(draw, "_SLICE_S", 0.0)
    token = CancelToken()
    spec = project(HEAD + "def build_data():\n" + ENDLESS, samples=64)
    said = []
    with pytest.raises(JobCancelled):
        for progress in opening(spec, token=token):
            assert isinstance(progress, Progress)
            said.append(progress.what)
            if "24 of 64" in progress.what:
                token.cancel()
    assert said[0] == "drawing data (train): 0 of 64 samples"
    assert said[-1] == "drawing data (train): 24 of 64 samples"


@pytest.mark.parametrize(
    "body",
    [
        "    return {'train': [(X[:8], Y[:8])]}[split]\n",
        "    return [(X[:8], Y[:8])] if split == 'train' else []\n",
        "    yield X[:8], Y[:8]\n    assert split == 'train'\n",
    ],
)
def test_that_a_test_split_that_cannot_be_had_is_left_out(project, body):
    subject = open_subject(project(HEAD + "def build_data(split):\n" + body))
    assert subject.data.splits == ("train",)
    told = [notice.sentence for notice in subject.notices]
    assert any(sentence.startswith("The split test is left out: model.py line ") for sentence in told)
