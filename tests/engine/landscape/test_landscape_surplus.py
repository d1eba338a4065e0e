"""How far a refinement moved the surface."""

import numpy as np
import pytest

from landscope.landscape.surplus import largest_surplus, refinement_matrix


def surface(points, function):
    x = np.linspace(-1, 1, points)
    return function(x[:, None], x[None])


@pytest.mark.parametrize("nodes", [2, 3, 5, 9])
def test_that_the_spline_goes_through_its_nodes_and_keeps_planes(nodes):
    matrix = refinement_matrix(nodes)
    assert matrix[::2] == pytest.approx(np.eye(nodes))
    assert matrix @ np.arange(nodes) == pytest.approx(np.arange(2 * nodes - 1) / 2)


def test_that_the_spline_is_the_natural_cubic_one():
    y = np.array([0.0, 1.0, 0.0])
    assert (refinement_matrix(3) @ y)[1] == pytest.approx(0.6875)  # S(x) = (3x - x^3)/2 on the first interval


def test_that_the_middle_agrees_with_the_polynomial_of_a_known_spline():
    x = np.arange(3.0)
    first = (3 * 0.5 - 0.5**3) / 2
    assert (refinement_matrix(3) @ np.where(x == 1, 1.0, 0.0))[[1, 3]] == pytest.approx([first, first])


def test_that_a_plane_has_no_surplus_and_a_flat_one_none_either():
    assert largest_surplus(surface(9, lambda x, y: x - 2 * y)) == pytest.approx(0, abs=1e-12)
    assert largest_surplus(np.ones((9, 9))) == 0


def test_that_a_bump_between_coarse_nodes_is_its_share_of_the_range():
    fine = surface(9, lambda x, y: 10 * x + 0 * y)
    fine[3, 4] += 0.5
    assert largest_surplus(fine) == pytest.approx(0.5 / 20)


def test_that_surplus_falls_with_refinement():
    def rough(x, y):
        return np.sin(4 * x) * np.cos(3 * y)

    found = [largest_surplus(surface(points, rough)) for points in (9, 17, 33)]
    assert found[0] > 3 * found[1] > 9 * found[2] > 0


def test_that_holes_do_not_spread():
    fine = surface(9, lambda x, y: x + y)
    fine[0, 0], fine[8, 8] = np.nan, np.inf
    fine[5, 1] += 0.25
    assert largest_surplus(fine) == pytest.approx(0.25 / np.ptp(fine[np.isfinite(fine)]), rel=0.05)


def test_that_nothing_finite_says_nothing():
    assert np.isnan(largest_surplus(np.full((9, 9), np.nan)))
