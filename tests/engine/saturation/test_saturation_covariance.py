from __future__ import annotations

import numpy as np
import pytest
import torch

from landscope.contract.errors import OptionError
from landscope.contract.intrinsic import intrinsic_dimension
from landscope.layers.kinds import Layer
from landscope.saturation import moments as module
from landscope.saturation import shifted_blocks as blocks
from landscope.saturation.covariance import Covariance
from landscope.saturation.layer_covariances import LayerCovariances
from landscope.saturation.statistics import (
    effective_rank,
    layer_saturation,
    participation_ratio,
)
from landscope.saturation.stored_rows import StoredRows


def _random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _exact(rows):
    rows = rows.reshape(-1, rows.shape[-1]).double().numpy()
    centred = rows - rows.mean(0)
    return np.linalg.svd(centred, compute_uv=False) ** 2 / len(rows)


def _filled(rows, batch=50, **options):
    found = Covariance(rows.shape[-1], **options)
    for part in rows.split(batch):
        found.add(part)
    return found


def _assert_spectrum(found, expected):
    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * expected[0])


@pytest.mark.parametrize("dimension", [5, 200, 400])
def test_that_batches_of_rows_give_the_spectrum_of_all_rows(dimension):
    rows = _random(600, dimension) @ torch.diag(torch.linspace(0.1, 3, dimension))
    _assert_spectrum(_filled(rows).spectrum(), _exact(rows))


def test_that_views_of_maps_give_the_same_as_their_rows():
    maps = _random(9, 6, 5, 4).movedim(1, -1)
    whole = Covariance(6)
    whole.add(maps)
    assert whole.samples == 180
    _assert_spectrum(whole.spectrum(), _exact(maps))


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_that_an_offset_does_not_change_ranks(offset):
    rows = (_random(4096, 32, seed=1).double() @ torch.diag(0.5 ** torch.arange(32.0).double())).float()
    rows = rows + offset
    found = layer_saturation("x", "Linear", _filled(rows, 512), 0.999)
    assert found.idim == intrinsic_dimension(_exact(rows), 0.999)
    _assert_spectrum(found.spectrum, _exact(rows))


def test_that_more_than_one_fold_of_rows_is_exact(monkeypatch):
    monkeypatch.setattr(module, "FOLD_ROWS", 1000)
    rows = _random(7321, 8) + 100
    _assert_spectrum(_filled(rows, 900).spectrum(), _exact(rows))


@pytest.mark.parametrize("scale", [1e-30, 1e-8, 1e17, 1e30])
def test_that_tiny_and_huge_values_neither_vanish_nor_overflow(scale):
    rows = _random(300, 6) * scale
    _assert_spectrum(_filled(rows).spectrum(), _exact(rows))


def test_that_float64_outputs_are_summed_in_float64():
    rows = _random(300, 6).double() + 1e9
    np.testing.assert_allclose(_filled(rows).spectrum(), _exact(rows), rtol=1e-6)


@pytest.mark.parametrize("count", [7, 40])
def test_that_fewer_rows_than_features_give_as_many_eigenvalues_as_rows(count):
    rows = _random(count, 64) + 5
    found = _filled(rows, 3)
    spectrum = found.spectrum()
    _assert_spectrum(spectrum, _exact(rows))
    assert spectrum[-1] < 1e-12 * spectrum[0]  # the mean takes one dimension
    centred = rows.double() - rows.double().mean(0)
    np.testing.assert_allclose(found.matrix(), (centred.T @ centred / count).numpy(), atol=1e-6)


@pytest.mark.parametrize("sizes", [[1, 1023, 1, 2000, 3], [5000, 7, 1024], [700, 700, 700]])
@pytest.mark.parametrize("block", [1 << 10, 1 << 20])
def test_that_neither_batch_sizes_nor_blocks_change_the_covariance(monkeypatch, sizes, block):
    monkeypatch.setattr(blocks, "BLOCK_ELEMENTS", block)
    rows = _random(sum(sizes), 6) + 3
    found = Covariance(6)
    for part in rows.split(sizes):
        found.add(part)
    assert found.samples == sum(sizes)
    centred = rows.double() - rows.double().mean(0)
    np.testing.assert_allclose(found.matrix(), (centred.T @ centred / len(rows)).numpy(), atol=1e-6)


def test_that_maps_larger_than_a_block_and_of_changing_sizes_and_layouts_are_summed(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ELEMENTS", 1 << 10)
    found, seen = Covariance(4), []
    for items, height, width in ((3, 4, 5), (2, 40, 30), (7, 2, 2), (1, 64, 64), (5, 4, 5)):
        for memory in (torch.contiguous_format, torch.channels_last):
            maps = _random(items, 4, height, width, seed=height).to(memory_format=memory).movedim(1, -1)
            found.add(maps)
            seen.append(maps.reshape(-1, 4))
    assert found.samples == sum(map(len, seen))
    _assert_spectrum(found.spectrum(), _exact(torch.cat(seen)))


def test_that_reading_in_between_changes_nothing():
    rows = _random(900, 40)
    found = Covariance(40)
    for part in rows.split(17):
        found.add(part)
        assert found.samples <= 900
    _assert_spectrum(found.spectrum(), _exact(rows))


def test_that_blocks_may_be_absorbed_later_and_their_memory_is_used_again():
    rows = _random(9 * 1024, 8)
    found, waiting, memory = Covariance(8), [], set()
    for part in rows.split(1024):
        waiting += found.blocks(part)
        memory |= {block.memory.data_ptr() for block in waiting}
        if len(waiting) == 3:
            for block in waiting:
                found.absorb(block)
            waiting.clear()
    _assert_spectrum(found.spectrum(), _exact(rows))
    assert len(memory) == 3


def test_that_rows_that_are_not_finite_are_counted_and_left_out():
    rows = _random(100, 4)
    clean = rows.clone()
    rows[3, 1], rows[50, 0], rows[50, 2] = float("nan"), float("inf"), -float("inf")
    found = layer_saturation("x", "Linear", _filled(rows), 0.99)
    kept = clean[[k for k in range(100) if k not in (3, 50)]]
    assert (found.samples, found.nonfinite) == (98, 2)
    assert "nonfinite" in found.flags
    _assert_spectrum(found.spectrum, _exact(kept))


def test_that_the_shift_waits_for_the_first_finite_row():
    rows = _random(60, 4) + 1e4
    broken = torch.full((20, 4), float("nan"))
    found = _filled(torch.cat([broken, rows]), 20)
    assert (found.samples, found.nonfinite) == (60, 20)
    _assert_spectrum(found.spectrum(), _exact(rows))


def test_that_a_layer_without_finite_rows_has_no_numbers():
    found = layer_saturation("x", "Linear", _filled(torch.full((20, 4), float("nan"))), 0.99)
    assert (found.samples, found.nonfinite, found.idim) == (0, 20, 0)
    assert np.isnan([found.lsat, found.trace, found.participation_ratio, found.effective_rank]).all()
    assert found.flags == ("too_few_samples", "nonfinite")


@pytest.mark.parametrize(("count", "dimension"), [(90, 3), (5, 30)])
@pytest.mark.parametrize("value", [0.0, 0.1, -123.456])
def test_that_a_constant_layer_is_dead(count, dimension, value):
    found = layer_saturation("x", "Linear", _filled(torch.full((count, dimension), value), 7), 0.99)
    assert (found.idim, found.lsat, found.trace) == (0, 0.0, 0.0)
    assert (found.participation_ratio, found.effective_rank) == (0.0, 0.0)
    assert "dead" in found.flags


def test_that_nothing_keeps_a_reference_to_the_live_output():
    for dimension in (4, 500):
        rows = _random(30, dimension)
        found, expected = Covariance(dimension), _exact(rows)
        found.add(rows)
        rows.relu_()
        _assert_spectrum(found.spectrum()[: len(expected)], expected[: min(dimension, 30)])


def test_that_too_few_samples_are_flagged_below_ten_per_feature():
    assert "too_few_samples" in layer_saturation("x", "L", _filled(_random(39, 4)), 0.99).flags
    assert layer_saturation("x", "L", _filled(_random(40, 4)), 0.99).flags == ()


def test_that_a_wide_layer_keeps_a_random_sample_of_its_rows_and_says_so():
    rows = _random(1500, 5000, seed=2) * torch.linspace(3, 0, 5000)
    found = _filled(rows, 128, stored_rows=300)
    statistics = layer_saturation("x", "Conv2d", found, 0.9)
    assert "sampled" in statistics.flags
    assert statistics.samples == 300
    assert statistics.trace == pytest.approx(float(rows.double().var(0, correction=0).sum()), rel=0.03)
    again = _filled(rows, 128, stored_rows=300)
    np.testing.assert_array_equal(again.spectrum(), found.spectrum())


def test_that_the_reservoir_is_uniform_over_all_rows():
    counts = np.zeros(100)
    for seed in range(200):
        kept = StoredRows(10, seed)
        for part in torch.arange(100.0).reshape(100, 1).split(17):
            kept.add(part)
        counts[kept.rows().flatten().long().numpy()] += 1
    assert counts.sum() == 2000
    assert abs(counts[:50].sum() - 1000) < 5 * 23  # five standard deviations of a fair draw
    assert counts.min() > 3 and counts.max() < 45


def test_that_samples_of_another_width_are_refused():
    with pytest.raises(ValueError, match="3 features, not 4"):
        Covariance(4).add(torch.zeros(2, 3))


def test_that_a_layer_whose_width_changes_is_dropped_with_the_reason():
    covariances = LayerCovariances()
    layer = Layer("conv", torch.nn.Conv2d(1, 1, 1), "Conv2d", "map", 2)
    for width in (8, 12, 8):
        covariances.take("conv", layer, _random(4, width))
    assert covariances.statistics(0.99, "smallest_k") == ()
    assert "8 and 12" in covariances.dropped()[0].reason


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan")])
def test_that_a_threshold_that_is_no_share_is_refused(threshold):
    with pytest.raises(OptionError, match="sat_threshold"):
        intrinsic_dimension(np.array([1.0]), threshold)


def test_that_the_whole_variance_needs_no_more_than_all_dimensions():
    spectrum = np.sort(np.random.default_rng(0).random(1000))[::-1]
    assert 0 < intrinsic_dimension(spectrum, 1.0) <= 1000
    assert intrinsic_dimension(spectrum, 1.0, "delve") <= 999


def test_that_ranks_of_equal_eigenvalues_are_their_number():
    assert participation_ratio(np.array([2.0, 2.0, 2.0, 0.0])) == pytest.approx(3.0)
    assert effective_rank(np.array([2.0, 2.0, 2.0, 0.0])) == pytest.approx(3.0)
    assert participation_ratio(np.array([1e300, 1e300])) == pytest.approx(2.0)
