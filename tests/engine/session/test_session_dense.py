"""The drawn surface goes through the samples, is smooth between them and keeps its holes small."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.typing import NDArray

from landscope.contract.deltas import PlaneOpened, PlanePoints
from landscope.session.dense import dense_surface
from landscope.session.model import EMPTY, FAILED, INTERPOLATED, SAMPLED, Plane, Session
from landscope.session.spline import refined, spline_matrix


def bowl(alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y = np.meshgrid(alpha, beta, indexing="ij")
    return np.exp(x**2 + 0.5 * y**2 - x * y) + 0.2 * np.sin(2 * x)


def opened(count: int, other: int | None = None) -> Plane:
    session = Session()
    session.apply(
        PlaneOpened(
            id="p",
            run="r",
            title="",
            kind="random",
            base="b",
            alpha=np.linspace(-1, 1, count),
            beta=np.linspace(-0.5, 1.5, other or count),
            axis_titles=("α", "β"),
            settings={},
        )
    )
    return session.planes["p"]


def sampled(plane: Plane, keep: NDArray[np.bool_], values: NDArray[np.float64] | None = None) -> Plane:
    session = Session(planes={"p": plane})
    found = bowl(plane.opened.alpha, plane.opened.beta) if values is None else values
    rows, columns = np.nonzero(keep)
    session.apply(PlanePoints(id="p", rows=rows, columns=columns, values={"loss": found[keep]}))
    return plane


def every(count: int, step: int, other: int | None = None) -> NDArray[np.bool_]:
    keep = np.zeros((count, other or count), bool)
    keep[::step, ::step] = True
    return keep


@pytest.mark.parametrize(("count", "degree"), [(2, 1), (3, 2), (4, 3), (9, 3)])
def test_that_polynomials_up_to_cubic_come_out_exactly_on_uneven_knots(count: int, degree: int) -> None:
    knots = np.cumsum(np.linspace(0.3, 1.7, count))
    polynomial = np.polynomial.Polynomial([0.5, -2, 0.7, 0.9][: degree + 1])
    dense = spline_matrix(knots, 7) @ polynomial(knots)
    assert dense == pytest.approx(polynomial(refined(knots, 7)))


def test_that_a_spline_bends_without_kinks() -> None:
    knots = np.array([0.0, 0.3, 1.0, 1.1, 2.5])
    fine = refined(knots, 1000)
    slope = np.gradient(spline_matrix(knots, 1000) @ np.sin(3 * knots), fine)
    assert np.abs(np.diff(slope)).max() < 0.05


@pytest.mark.parametrize("transform", ["linear", "log"])
def test_that_samples_keep_their_exact_values(transform: str) -> None:
    plane = sampled(opened(33), every(33, 1))
    surface = dense_surface(plane, transform=transform)  # type: ignore[arg-type]
    assert surface.z.shape == (129, 129)
    expected = plane.values["loss"] if transform == "linear" else np.log10(plane.values["loss"])
    assert np.array_equal(surface.z[::4, ::4], expected)
    assert np.array_equal(surface.alpha[::4], plane.opened.alpha)
    assert (surface.state[::4, ::4] == SAMPLED).all()
    assert (surface.state[1::4] == INTERPOLATED).all()


def test_that_nine_points_per_axis_come_close_to_the_function_between_them() -> None:
    plane = sampled(opened(33), every(33, 4))
    surface = dense_surface(plane)
    true = bowl(surface.alpha, surface.beta)
    assert surface.level == 9
    assert np.abs(surface.z - true).max() < 0.012 * np.ptp(true)


def test_that_a_half_sampled_level_is_drawn_through_its_samples() -> None:
    keep = every(33, 4)
    keep[:16:2, ::2] = True
    plane = sampled(opened(33), keep)
    surface = dense_surface(plane)
    assert surface.level == 17
    half = surface.z[:: 128 // 16, :: 128 // 16]
    assert np.array_equal(half[:8], plane.values["loss"][:16:2, ::2])
    true = bowl(surface.alpha, surface.beta)
    coarse = dense_surface(sampled(opened(33), every(33, 4)))
    error, before = np.abs(surface.z - true), np.abs(coarse.z - true)
    assert error[:60].max() < 0.3 * before[:60].max()
    assert error.max() <= before.max()


def test_that_the_coarsest_level_grows_cell_by_cell() -> None:
    keep = np.zeros((9, 9), bool)
    keep[2:5:2, 2:5:2] = True
    surface = dense_surface(sampled(opened(9), keep), points=9)
    known = np.isfinite(surface.z)
    assert known[2:5, 2:5].all()
    assert known.sum() == 9
    assert (surface.state[~known] == EMPTY).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_that_a_diverged_point_empties_the_cells_around_it_and_no_other(bad: float) -> None:
    values = bowl(*(opened(17).opened.alpha, opened(17).opened.beta))
    values[4, 7] = bad
    surface = dense_surface(sampled(opened(17), every(17, 1), values))
    holes = ~np.isfinite(surface.z)
    assert holes[25:40, 49:64].all()
    assert holes.sum() == 15 * 15
    assert surface.state[32, 56] == SAMPLED
    clean = dense_surface(sampled(opened(17), every(17, 1)))
    away = ~holes
    assert np.abs(surface.z - clean.z)[away].max() < 0.01 * np.ptp(clean.z)


def test_that_log_of_what_is_not_positive_is_a_hole() -> None:
    values = np.ones((5, 5))
    values[0, 0] = 0
    surface = dense_surface(sampled(opened(5), every(5, 1), values), transform="log", points=5)
    assert np.isnan(surface.z[0, 0])
    assert np.isfinite(surface.z).sum() == 24
    assert surface.values[1, 1] == 1


def test_that_failed_points_are_marked_and_empty_planes_are_empty() -> None:
    plane = opened(9)
    assert np.isnan(dense_surface(plane).z).all()
    plane = sampled(plane, every(9, 1))
    plane.values["loss"][2, 2] = np.nan
    plane.state[2, 2] = FAILED
    surface = dense_surface(plane, points=9)
    assert surface.state[2, 2] == FAILED
    assert np.isnan(surface.z[2, 2])
    assert np.isnan(dense_surface(plane, metric="unknown").z).all()


def test_that_axes_of_different_length_are_refined_alike() -> None:
    plane = sampled(opened(33, 17), every(33, 1, 17))
    surface = dense_surface(plane, points=65)
    assert surface.z.shape == (65, 65)
    assert np.array_equal(surface.z[::2, ::4], plane.values["loss"])


def test_that_a_surface_is_there_within_a_frame() -> None:
    plane = sampled(opened(33), every(33, 1))
    dense_surface(plane)
    took = []
    for _ in range(5):
        began = time.perf_counter()
        dense_surface(plane)
        took.append(time.perf_counter() - began)
    assert min(took) < 0.033
