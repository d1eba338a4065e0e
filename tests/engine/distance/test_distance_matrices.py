"""The matrices must not depend on how many checkpoints fit into memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from landscope.contract.errors import CheckpointError
from landscope.distance.frame import frame_of, layer_name, names_of
from landscope.distance.matrices import PairwiseProducts


def _weights(count, generator):
    first = [torch.randn(7, 5, generator=generator), torch.randn(9, generator=generator)]
    return [[w + 0.1 * k * torch.randn(w.shape, generator=generator) for w in first] for k in range(count)]


def _pairs(weights, group):
    pairs = PairwiseProducts(lambda i: weights[i], len(weights), group)
    shares = list(pairs.run())
    assert shares == sorted(shares) and shares[-1] == 1.0
    return pairs


@pytest.mark.parametrize("group", [1, 2, 3, 10])
def test_that_distances_and_cosines_are_those_of_the_flat_vectors(group):
    weights = _weights(5, torch.Generator().manual_seed(0))
    flat = np.array([torch.cat([w.reshape(-1) for w in one]).double().numpy() for one in weights])
    pairs = _pairs(weights, group)
    expected = np.linalg.norm(flat[:, None] - flat[None], axis=-1)
    np.testing.assert_allclose(pairs.distance(), expected, rtol=1e-10)
    unit = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    np.testing.assert_allclose(pairs.cosine(), unit @ unit.T, rtol=1e-10, atol=1e-12)


def test_that_close_checkpoints_far_from_the_reference_keep_their_distance():
    start = torch.zeros(1000, dtype=torch.float64)
    far = torch.full((1000,), 1e3, dtype=torch.float64)
    near = far.clone()
    near[0] += 1e-6
    distance = _pairs([[start], [far], [near], [far.clone()]], 2).distance()
    assert distance[1, 2] == pytest.approx(float(near[0] - far[0]), rel=1e-12)
    assert distance[1, 3] == 0.0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_that_a_checkpoint_that_is_not_finite_spoils_only_its_own_row(value):
    weights = _weights(5, torch.Generator().manual_seed(1))
    weights[2][0][0, 0] = weights[3][0][0, 0] = value
    pairs = _pairs(weights, 2)
    for matrix in (pairs.distance(), pairs.cosine()):
        assert np.isnan(matrix[2:4]).all() and np.isnan(matrix[:, 2:4]).all()
        assert np.isfinite(matrix[np.ix_([0, 1, 4], [0, 1, 4])]).all()


@pytest.mark.parametrize(
    ("parameter", "layer"),
    [
        ("blocks.0.conv1.weight", "blocks.0.conv1"),
        ("w1", "w1"),
        ("fc.parametrizations.weight.original0", "fc"),
        ("lstm.weight_ih_l0", "lstm"),
    ],
)
def test_that_a_parameter_belongs_to_its_module(parameter, layer):
    assert layer_name(parameter) == layer


def test_that_another_network_is_refused_with_names_and_both_shapes():
    frame = frame_of({"a.weight": torch.zeros(3, 4), "a.bias": torch.zeros(3)})
    with pytest.raises(
        CheckpointError, match=r"x\.pt holds another network.*a\.weight is 5×4, not 3×4.*a\.bias"
    ):
        names_of(frame, {"a.weight": torch.zeros(5, 4)}, "x.pt")


def test_that_integer_tensors_and_foreign_statistics_have_no_part_in_totals():
    frame = frame_of(
        {
            "n.weight": torch.ones(2),
            "n.running_mean": torch.ones(2),
            "n.num_batches_tracked": torch.tensor(3),
        }
    )
    assert frame.parameters == ("n.weight", "n.running_mean")
    assert frame.grouped(np.array([2.0, 100.0])).tolist() == [2.0, 100.0, 2.0, 2.0]
