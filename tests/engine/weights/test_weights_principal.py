"""The plane of a path, streamed: agrees with a plain SVD, in any number of blocks."""

import numpy as np
import pytest
import torch
from torch import nn

from landscope.contract.errors import OptionError
from landscope.weights import principal
from landscope.weights.principal import principal_plane
from landscope.weights.vector import ParameterVector


def path(count=7, seed=0):
    model = nn.Sequential(nn.Linear(6, 5), nn.Linear(5, 4))
    vector = ParameterVector(model)
    generator = torch.Generator().manual_seed(seed)
    steps = torch.randn(count, vector.zeros().size, generator=generator).cumsum(0)
    flats = []
    for row in steps:
        flat = vector.zeros()
        flat.blocks[0].copy_(row)
        flats.append(flat)
    return vector, flats, steps.double().numpy()


def plain(steps, reference):
    _, singular, components = np.linalg.svd(steps - steps[reference], full_matrices=False)
    components = (
        components * np.sign(components[np.arange(len(components)), np.abs(components).argmax(1)])[:, None]
    )
    return singular**2 / (singular**2).sum(), components[:2]


@pytest.mark.parametrize("reference", [6, 2])
@pytest.mark.parametrize("held", [1 << 30, 1])
def test_that_streamed_pca_is_the_svd(reference, held, monkeypatch):
    monkeypatch.setattr(principal, "HELD_BYTES", held)
    vector, flats, steps = path()
    loads = []
    found = principal_plane(vector, 7, reference, lambda i: loads.append(i) or flats[i])
    shares, components = plain(steps, reference)
    assert found.pair.explained == pytest.approx(shares[:2], rel=1e-9)
    wanted = (steps - steps[reference]) @ components.T
    assert found.coordinates == pytest.approx(wanted, abs=1e-5)
    residuals = np.linalg.norm(steps - steps[reference] - wanted @ components, axis=1)
    assert found.residuals == pytest.approx(residuals, abs=1e-5)
    for flat, component in zip((found.pair.first, found.pair.second), components, strict=True):
        assert flat.blocks[0].numpy() == pytest.approx(component, abs=1e-6)
    assert found.coordinates[reference].tolist() == [0, 0] and found.residuals[reference] < 1e-6
    assert (len(loads) > 8) == (held == 1)


def test_that_pieces_longer_than_a_block_are_summed(monkeypatch):
    vector, flats, _ = path()
    whole = principal_plane(vector, 7, 6, lambda i: flats[i])
    monkeypatch.setattr(principal, "BLOCK", 10)
    cut = principal_plane(vector, 7, 6, lambda i: flats[i])
    assert cut.coordinates == pytest.approx(whole.coordinates, rel=1e-9)


def test_that_two_checkpoints_are_too_few():
    vector, flats, _ = path(2)
    with pytest.raises(OptionError, match="at least three usable checkpoints; there are 2"):
        principal_plane(vector, 2, 1, lambda i: flats[i])


@pytest.mark.parametrize("factors", [(0.0, 1.0, 2.0, 5.0), (1.0, 1.0, 1.0)])
def test_that_a_straight_path_spans_no_plane(factors):
    vector, flats, _ = path(1)
    line = [flats[0].clone() for _ in factors]
    for flat, factor in zip(line, factors, strict=True):
        flat.blocks[0].mul_(factor)
    with pytest.raises(OptionError, match="straight line"):
        principal_plane(vector, len(factors), len(factors) - 1, lambda i: line[i])
