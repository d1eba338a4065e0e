import numpy as np
import pytest

from landscope_app.scene.heightfield import first_hit, height_at, triangles

X, Y = np.linspace(-1, 1, 21), np.linspace(0, 3, 16)


def plane() -> np.ndarray:
    return 0.5 * X[:, None] + 0.25 * Y[None, :] + 1.0


def test_that_all_triangles_cover_the_field_once_and_turn_the_same_way() -> None:
    corners = triangles(plane())
    assert corners.shape == (2 * 20 * 15, 3)
    points = np.stack(np.meshgrid(X, Y, indexing="ij"), axis=-1).reshape(-1, 2)[corners]
    first, second = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    areas = 0.5 * (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
    assert (areas > 0).all()
    assert areas.sum() == pytest.approx(6.0)


@pytest.mark.parametrize("hole", [np.nan, np.inf, -np.inf])
def test_that_no_triangle_touches_a_hole(hole: float) -> None:
    z = plane()
    z[5, 7] = hole
    corners = triangles(z)
    assert len(corners) == 600 - 6
    assert 5 * 16 + 7 not in corners


def test_that_thinned_triangles_still_reach_every_border() -> None:
    corners = triangles(plane(), stride=3)
    used = np.unique(corners)
    assert {0, 15, 20 * 16, 20 * 16 + 15} <= set(used.tolist())
    assert len(corners) < 600 / 4


def test_that_heights_between_samples_follow_the_triangles() -> None:
    rng = np.random.default_rng(0)
    u, v = rng.uniform(-1, 1, 50), rng.uniform(0, 3, 50)
    assert height_at(X, Y, plane(), u, v) == pytest.approx(0.5 * u + 0.25 * v + 1.0)
    assert np.isnan(height_at(X, Y, plane(), np.array([1.1]), np.array([1.0]))).all()


def test_that_a_ray_ends_where_it_meets_a_plane() -> None:
    start, end = np.array([-0.9, 0.2, 9.0]), np.array([0.7, 2.9, -9.0])
    hit = first_hit(X, Y, plane(), start, end)
    assert hit is not None
    assert hit[2] == pytest.approx(0.5 * hit[0] + 0.25 * hit[1] + 1.0)
    share = (hit - start) / (end - start)
    assert share == pytest.approx(np.full(3, share[0]))


def test_that_a_ray_straight_down_and_one_along_the_floor_are_told_apart() -> None:
    hit = first_hit(X, Y, plane(), np.array([0.33, 1.23, 9.0]), np.array([0.33, 1.23, -9.0]))
    assert hit == pytest.approx([0.33, 1.23, 0.5 * 0.33 + 0.25 * 1.23 + 1.0])
    assert first_hit(X, Y, plane(), np.array([-5.0, 1.0, -3.0]), np.array([5.0, 1.0, -3.0])) is None


def test_that_a_ray_passes_through_a_hole_and_takes_the_first_of_two_hits() -> None:
    z = np.where(np.abs(X)[:, None] > 0.4, 1.0, 0.0) * np.ones(Y.size)  # a trench between two walls
    down = (np.array([0.0, 1.5, 5.0]), np.array([0.0, 1.5, -5.0]))
    across = (np.array([-3.0, 1.5, 0.5]), np.array([3.0, 1.5, 0.5]))
    bottom, wall = first_hit(X, Y, z, *down), first_hit(X, Y, z, *across)
    assert bottom is not None and bottom[2] == pytest.approx(0.0)
    assert wall is not None and wall[0] < 0
    z[9:12] = np.nan
    assert first_hit(X, Y, z, *down) is None


def test_that_a_field_of_holes_is_never_hit() -> None:
    nothing = np.full((21, 16), np.nan)
    assert triangles(nothing).shape == (0, 3)
    assert first_hit(X, Y, nothing, np.array([0.0, 1, 9]), np.array([0.0, 1, -9])) is None
