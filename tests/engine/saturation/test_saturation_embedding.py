"""Rows of layers in their first two directions, against numpy's whole decomposition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from landscope.contract.deltas import UNKNOWN_LABEL
from landscope.layers.row_items import each_item
from landscope.project.measuring.defaults import classes_of
from landscope.saturation.covariance import Covariance
from landscope.saturation.embedding import EMBEDDED_ROWS, LayerRows
from landscope.saturation.leading import decomposed
from landscope.saturation.row_choice import RowChoice


def _samples(rows, features, seed=0, decay=3.0):
    generator = torch.Generator().manual_seed(seed)
    scale = torch.exp(-decay * torch.arange(features) / features)
    mixing = torch.linalg.qr(torch.randn(features, features, generator=generator)).Q
    return torch.randn(rows, features, generator=generator) * scale @ mixing + 5.0


def _expected(samples, count=2):
    """(D, count) eigenvectors of the covariance, the largest entry of each positive."""
    found = np.linalg.eigh(np.cov(samples.double().numpy().T, bias=True))[1][:, ::-1][:, :count]
    return found * np.sign(found[np.abs(found).argmax(0), range(found.shape[1])])


@pytest.mark.parametrize(("rows", "features"), [(400, 5), (900, 130), (900, 450), (60, 150), (420, 700)])
def test_that_directions_are_the_first_eigenvectors(rows, features):
    samples = _samples(rows, features)
    covariance = Covariance(features)
    covariance.add(samples)
    spectrum, directions = covariance.decomposed(2)
    np.testing.assert_allclose(spectrum, covariance.spectrum(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(directions.numpy(), _expected(samples), atol=2e-5)


def test_that_directions_are_eigenvectors_where_eigenvalues_are_nearly_equal():
    samples = _samples(700, 500, decay=0.0).double()
    matrix = torch.cov(samples.t(), correction=0)
    values, vectors = decomposed(matrix, 2)
    error = torch.linalg.vector_norm(matrix @ vectors - vectors * values.flip(0)[:2], dim=0)
    assert (error <= 1e-6 * values[-1]).all()
    assert torch.allclose(vectors.t() @ vectors, torch.eye(2, dtype=torch.float64), atol=1e-9)


def test_that_equal_eigenvalues_have_eigenvectors_too():
    values, vectors = decomposed(torch.eye(400, dtype=torch.float64), 2)
    assert torch.allclose(vectors.t() @ vectors, torch.eye(2, dtype=torch.float64), atol=1e-9)
    assert torch.allclose(values, torch.ones(400, dtype=torch.float64))


@pytest.mark.parametrize(("rows", "features"), [(1, 4), (3, 1), (2, 200)])
def test_that_a_direction_without_variance_places_rows_at_zero(rows, features):
    samples = _samples(rows, features)
    covariance = Covariance(features)
    covariance.add(samples)
    placed = _passed(samples, rows).along(covariance.decomposed(2)[1])["embedding"]
    assert placed.shape == (rows, 2)
    assert np.abs(placed[:, 1]).max() < 1e-3
    if rows > 1:
        centred = samples - samples.mean(0)
        lengths = torch.linalg.vector_norm(centred, dim=1).numpy()
        np.testing.assert_allclose(np.abs(placed[:, 0]), lengths, rtol=1e-4)


def _passed(samples, batch, labels=None):
    """One pass in batches over samples (B, …, D)."""
    kept, choice = LayerRows(), RowChoice(len(samples), EMBEDDED_ROWS)
    for first in range(0, len(samples), batch):
        part = samples[first : first + batch]
        own = None if labels is None else labels[first : first + batch]
        kept.begin(choice.batch(first, len(part), own))
        kept.take("a", part, each_item(len(part)))
    return kept.of("a")


def _taken(rows, owners, labels):
    """Rows of one batch that is the whole split."""
    kept = LayerRows()
    kept.begin(RowChoice(len(labels), EMBEDDED_ROWS).batch(0, len(labels), labels))
    kept.take("a", rows, owners)
    return kept.of("a").along(torch.eye(rows.shape[1], 2).double()[:, : rows.shape[1]])


def test_that_all_samples_are_kept_where_they_fit():
    samples = _samples(400, 6)
    found = _passed(samples, 32, labels=torch.arange(400) % 7).along(torch.eye(6, 2).double())
    centred = samples - samples.mean(0)
    np.testing.assert_allclose(found["embedding"], centred[:, :2].numpy(), atol=1e-5)
    assert found["items"].tolist() == list(range(400))
    assert found["labels"].tolist() == [k % 7 for k in range(400)]


def test_that_some_of_many_samples_are_spread_over_the_whole_pass_and_keep_their_labels():
    samples = torch.arange(20_000.0).reshape(-1, 1) * torch.ones(1, 2)
    found = _passed(samples, 333, labels=torch.arange(20_000) * 3).along(torch.eye(2).double())
    items = found["items"]
    assert len(items) == EMBEDDED_ROWS == len(set(items.tolist()))
    counts = np.histogram(items, bins=4, range=(0, 20_000))[0]
    assert counts.min() > 80  # 128 are expected, with a standard deviation of 10
    assert np.array_equal(found["labels"], 3 * items)
    np.testing.assert_allclose(found["embedding"][:, 0], items - items.mean(), rtol=1e-4, atol=0.1)


@pytest.mark.parametrize(("pictures", "kept"), [(60, 480), (100, 500), (2000, 512)])
def test_that_positions_of_a_map_carry_the_label_of_their_picture(pictures, kept):
    values = torch.arange(float(pictures)).reshape(-1, 1, 1, 1).repeat(1, 2, 5, 4)
    values[:, 1] = torch.arange(20.0).reshape(5, 4)
    labels = 10 * torch.arange(pictures)
    found = _passed(values.movedim(1, -1), 25, labels).along(torch.eye(2).double())
    items = found["items"]
    assert len(items) == kept
    assert np.array_equal(found["labels"], 10 * items)
    np.testing.assert_allclose(found["embedding"][:, 0], items - items.mean(), atol=1e-3)
    position = found["embedding"][:, 1] - found["embedding"][:, 1].min()
    hits = np.bincount(position.round().astype(int), minlength=20)
    assert hits.min() > kept / 60 and hits.max() < kept / 10  # as likely everywhere: kept / 20
    assert len({*zip(items.tolist(), position.round().tolist(), strict=True)}) == kept


def test_that_the_same_samples_are_kept_whatever_they_hold_and_however_they_are_batched():
    directions = torch.eye(3, 2).double()
    one = _passed(_samples(5_000, 3), 100).along(directions)["items"]
    other = _passed(_samples(5_000, 3, seed=1).unsqueeze(1), 64).along(directions)["items"]
    assert np.array_equal(one, other)


def test_that_very_wide_layers_keep_fewer_samples(monkeypatch):
    monkeypatch.setattr("landscope.saturation.embedding.EMBEDDED_BYTES", 4 * 3 * 40)
    found = _passed(_samples(2_000, 3), 100, torch.arange(2_000)).along(torch.eye(3, 2).double())
    assert len(found["items"]) == 40
    assert np.ptp(found["items"]) > 1_000


def test_that_sequences_of_any_length_give_rows_of_their_own():
    steps = torch.tensor([[0.0], [2.0], [0.0], [2.0], [0.0]])
    found = _taken(steps, torch.tensor([0, 2, 0, 2, 0]), torch.tensor([5, 6, 7]))
    assert found["items"].tolist() == [0, 0, 0, 2, 2]  # item 1 has no step
    assert found["labels"].tolist() == [5, 5, 5, 7, 7]
    np.testing.assert_allclose(np.diff(found["embedding"][:, 0]), [0, 0, 2, 0], atol=1e-6)


def test_that_masks_of_another_pass_are_not_remembered():
    batch = RowChoice(2, EMBEDDED_ROWS).batch(0, 2, None)
    for owners in ([0, 0, 1], [0, 1, 1]):
        assert batch.picked(torch.Size((3,)), 512, torch.tensor(owners)).items.tolist() == owners


def test_that_rows_that_are_not_finite_have_no_place_and_do_not_disturb_the_others():
    samples = _samples(40, 3)
    samples[7, 1], samples[9, 0] = float("nan"), float("inf")
    covariance = Covariance(3)
    covariance.add(samples)
    placed = _passed(samples, 16).along(covariance.decomposed(2)[1])["embedding"]
    assert np.flatnonzero(np.isnan(placed).any(1)).tolist() == [7, 9]
    assert np.isfinite(np.delete(placed, [7, 9], axis=0)).all()


def test_that_rows_too_large_for_the_embedding_are_infinite_without_a_warning():
    samples = torch.tensor([[3e38, 3e38], [-3e38, -3e38], [3e38, 2e38]])
    placed = _passed(samples, 3).along(torch.full((2, 1), 0.5**0.5).double())["embedding"]
    assert placed[1, 0] == -np.inf


def test_that_rows_whose_item_is_not_known_are_kept_without_a_label():
    found = _taken(torch.arange(24.0).reshape(12, 2), None, torch.arange(4))
    assert set(found["items"].tolist()) == {-1}
    assert set(found["labels"].tolist()) == {UNKNOWN_LABEL}
    assert len(np.unique(found["embedding"][:, 0])) == 12
    assert len(_taken(torch.ones(1, 2), None, torch.arange(4))["items"]) == 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((torch.zeros(3, 2), torch.tensor([2, 0, 1])), [2, 0, 1]),
        ((torch.zeros(3, 2), torch.tensor([[2], [0], [1]], dtype=torch.uint8)), [2, 0, 1]),
        ({"x": torch.zeros(3, 2), "labels": torch.tensor([-1, 1, -100])}, [-1, 1, UNKNOWN_LABEL]),
        ((torch.zeros(3, 2), torch.tensor([0.0, 1.0, 2.0])), None),
        ((torch.zeros(3, 2), torch.zeros(3, 5, dtype=torch.long)), None),
        ((torch.zeros(3, 2), torch.zeros(3, dtype=torch.bool)), None),
        (torch.zeros(3, 2), None),
    ],
)
def test_that_classes_are_integers_one_for_each_sample(value, expected):
    found = classes_of(value, 3)
    assert (None if found is None else found.tolist()) == expected
