"""Nested grids, axes and the order of points."""

import numpy as np
import pytest

from landscope.contract.errors import OptionError
from landscope.landscape import grid


@pytest.mark.parametrize("points", grid.LEVELS)
def test_that_levels_together_cover_every_node_once(points):
    nodes = [node for level in grid.levels(points) for node in grid.new_nodes(level, points)]
    assert len(nodes) == len(set(nodes)) == points**2


def test_that_a_level_contains_the_one_before():
    assert set(grid.level_nodes(9, 33)) < set(grid.level_nodes(17, 33))


@pytest.mark.parametrize("points", [4, 6, 11, 257])
def test_that_other_sizes_are_refused(points):
    with pytest.raises(OptionError, match="5, 9, 17, 33, 65, 129 points per axis"):
        grid.levels(points)


@pytest.mark.parametrize("reach", [1.0, 0.3, 7e-3])
@pytest.mark.parametrize("points", grid.LEVELS)
def test_that_a_symmetric_axis_has_exact_ends_and_zero(reach, points):
    axis = grid.symmetric_axis(reach, points)
    assert axis[0] == -reach and axis[-1] == reach and axis[points // 2] == 0
    assert np.diff(axis) == pytest.approx(2 * reach / (points - 1), rel=1e-12)


@pytest.mark.parametrize("reach", [0, -1, float("nan"), float("inf")])
def test_that_a_reach_must_be_positive(reach):
    with pytest.raises(OptionError, match="positive number"):
        grid.symmetric_axis(reach, 5)


@pytest.mark.parametrize("low,high", [(-6.4, 0.0), (-0.8, 1.0), (0.0, 3.0), (-1, 100), (-5e-9, 1e-9), (2, 3)])
@pytest.mark.parametrize("points", [5, 33])
def test_that_an_axis_covers_the_path_with_a_margin_and_zero_is_a_coarse_node(low, high, points):
    axis = grid.covering_axis(np.array([low, high, (low + high) / 2]), points)
    room = 0.15 * (max(high, 0) - min(low, 0))
    assert axis[0] <= min(low, 0) - room * 0.999 and axis[-1] >= max(high, 0) + room * 0.999
    assert 0.0 in axis[:: (points - 1) // 4][1:-1]
    steps = np.diff(axis)
    assert steps == pytest.approx(steps[0], rel=1e-9)


def test_that_a_one_sided_path_gets_a_one_sided_axis():
    axis = grid.covering_axis(np.array([-6.0, -3.0, 0.0]), 5)
    assert list(axis).index(0.0) == 3


def test_that_the_centre_comes_first_then_the_path_then_outwards():
    nodes = grid.new_nodes(5, 9)
    path = np.array([[4.0, 4.0], [0.3, 7.8]])
    order = grid.inside_out(nodes, (4, 4), path, 2)
    assert order[0] == (4, 4) and sorted(order) == sorted(nodes)
    assert order.index((0, 8)) < order.index((2, 2)) < order.index((0, 0))


def test_that_without_a_path_points_go_outwards():
    order = grid.inside_out(grid.new_nodes(9, 9), (4, 4), np.zeros((0, 2)), 1)
    rings = [max(abs(i - 4), abs(j - 4)) for i, j in order]
    assert rings == sorted(rings)


@pytest.mark.parametrize("points,extend,count", [(33, 0, 33), (11, 0.5, 21), (2, 0, 2), (11, 0.01, 13)])
def test_that_a_line_holds_both_ends_exactly(points, extend, count):
    line = grid.line_coordinates(points, extend)
    assert len(line) == count and 0.0 in line and 1.0 in line
    assert line[0] <= -extend and line[-1] >= 1 + extend


@pytest.mark.parametrize("points,extend", [(1, 0), (5, -1), (5, float("nan"))])
def test_that_impossible_lines_are_refused(points, extend):
    with pytest.raises(OptionError):
        grid.line_coordinates(points, extend)


@pytest.mark.parametrize("points,extend", [(33, 0), (11, 0.5), (2, 0), (3, 2), (12, 0.1)])
def test_that_a_line_is_measured_ends_first_and_wholly(points, extend):
    line = grid.line_coordinates(points, extend)
    order = grid.bisection_order(line)
    assert sorted(order) == list(range(len(line)))
    assert line[order[:2]].tolist() == [0.0, 1.0]


def test_that_a_line_halves_its_widest_gap():
    line = grid.line_coordinates(9, 0)
    assert line[grid.bisection_order(line)][:5].tolist() == [0, 1, 0.5, 0.25, 0.75]
