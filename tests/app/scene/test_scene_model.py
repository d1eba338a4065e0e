from collections.abc import Callable

import numpy as np
import pytest

from landscope_app.scene.model import SceneState
from landscope_app.scene.path import checkpoint_points, draped_line
from landscope_app.scene.surface import colour_table, contour_step

MakeState = Callable[..., SceneState]


def test_that_the_box_holds_the_surface_and_maps_back_exactly(make_state: MakeState) -> None:
    state = make_state()
    low, high = state.data_limits
    assert state.box.low[2] < low < high < state.box.high[2]
    points = np.random.default_rng(1).uniform(-2, 2, (10, 3))
    assert state.box.to_data(state.box.to_world(points)) == pytest.approx(points)
    assert state.box.to_world(np.array(state.box.high)) == pytest.approx(np.array(state.aspect))


@pytest.mark.parametrize("value", [0.0, 1000.0, -3.0])
def test_that_a_flat_surface_has_a_box_and_colours(make_state: MakeState, value: float) -> None:
    state = make_state(z=np.full((41, 45), value, np.float32))
    low, high = state.colour_range
    assert low < value < high
    assert np.isfinite(state.box.to_world(np.array([0.0, 0.0, value]))).all()


def test_that_limits_ignore_holes_and_survive_having_nothing_else(make_state: MakeState) -> None:
    z = make_state().z.copy()
    z[0, 0], z[1, 1] = np.inf, np.nan
    assert np.isfinite(make_state(z=z).data_limits).all()
    assert make_state(z=np.full((41, 45), np.nan, np.float32)).data_limits == (0.0, 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"z": np.zeros((41, 41), np.float32)},
        {"x": np.linspace(1, -1, 41)},
        {"path": np.zeros((4, 2))},
    ],
)
def test_that_arrays_that_do_not_fit_are_refused(make_state: MakeState, wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"must|heights"):
        make_state(**wrong)


def test_that_missing_heights_of_checkpoints_come_from_the_surface(make_state: MakeState) -> None:
    path = np.array([[0.0, 0.0, np.nan], [0.5, 1.0, 0.9], [5.0, 0.0, np.nan], [np.nan, 0.0, 1.0]])
    state = make_state(path=path)
    points = checkpoint_points(state)
    assert points[0, 2] == pytest.approx(0.3, abs=1e-6)  # the surface's own height at its centre
    assert points[1, 2] == 0.9
    assert points[2, 2] == state.box.low[2]
    assert np.isnan(points[3]).any()


def test_that_the_line_passes_its_checkpoints_and_follows_the_surface(make_state: MakeState) -> None:
    path = np.array([[-0.9, -1.5, np.nan], [0.9, 1.5, np.nan]])
    state = make_state(path=path)
    points = checkpoint_points(state)
    line = draped_line(state, points)
    assert line[0] == pytest.approx(points[0])
    assert line[-1] == pytest.approx(points[-1])
    analytic = line[:, 0] ** 2 + 0.2 * line[:, 1] ** 2 + 0.1 * np.sin(3 * line[:, 0]) + 0.3
    assert np.abs(line[:, 2] - analytic).max() < 5e-3
    straight = draped_line(make_state(path=path, drape=False), points)
    assert len(straight) == 2


def test_that_contours_lie_on_round_values_and_can_be_off(make_state: MakeState) -> None:
    assert contour_step(make_state(colour_limits=(0.0, 2.0), contour_count=16)) == pytest.approx(0.1)
    assert contour_step(make_state(contour_count=0)) == 0.0


def test_that_colour_maps_come_by_name_and_unknown_ones_are_named() -> None:
    table = colour_table("viridis")
    assert table.shape == (1024, 4)
    assert tuple(table[0][:3]) == (68, 1, 84)
    assert tuple(table[-1][:3]) == (253, 231, 37)
    with pytest.raises(ValueError, match="no-such-map"):
        colour_table("no-such-map")
