import numpy as np
import pytest
from fake_session import RUNS, fake_session, names
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from qt_application import Keep

from landscope_app.plots.charts import FieldChart
from landscope_app.plots.colour_maps import colour_table, mapped
from landscope_app.plots.contours import ContourWidget, contour_lines
from landscope_app.plots.landscape_chart import field_chart
from landscope_app.theme.colors import DARK


@pytest.fixture(scope="module")
def chart() -> FieldChart:
    made = field_chart(fake_session((RUNS[0],)), f"{RUNS[0]}-random", names()[3])
    assert made is not None
    return made


@pytest.fixture
def contours(application: QApplication, keep: Keep, chart: FieldChart) -> ContourWidget:
    widget = ContourWidget(DARK)
    keep(widget)
    widget.resize(700, 500)
    widget.set_chart(chart)
    widget.show()
    application.processEvents()
    return widget


def _colour_at(contours: ContourWidget, alpha: float, beta: float) -> QColor:
    image = contours.plot.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    place = contours.plot.getViewBox().mapViewToScene(QPointF(alpha, beta))
    return image.pixelColor(round(place.x()), round(place.y()))


def test_that_a_hole_shows_the_background(contours: ContourWidget) -> None:
    hole = _colour_at(contours, -0.95, -0.95)
    assert hole == QColor(DARK.panel)
    assert _colour_at(contours, 0.03, 0.02) != hole


def test_that_colours_come_from_the_map(contours: ContourWidget, chart: FieldChart) -> None:
    i, j = (int(np.argmin(np.abs(axis - 0.03))) for axis in (chart.alpha, chart.beta))
    low, high = chart.limits
    wanted = colour_table("viridis")[round((chart.z[i, j] - low) / (high - low) * 255)]
    found = _colour_at(contours, 0.03, 0.03)
    assert np.abs(np.array(found.getRgb()[:3], int) - wanted[:3]).max() <= 12


def test_that_the_plane_keeps_its_proportions(contours: ContourWidget, application: QApplication) -> None:
    for size in ((700, 500), (400, 700)):
        contours.resize(*size)
        application.processEvents()
        box = contours.plot.getViewBox()
        assert box.width() == pytest.approx(box.height(), rel=0.03)
        assert contours.rect().contains(contours.plot.geometry())
        assert contours.rect().contains(contours.bar.geometry())


def test_that_contour_lines_lie_on_their_level(chart: FieldChart) -> None:
    x, y = contour_lines(chart)
    assert np.isnan(x).sum() >= len(chart.levels) // 2
    keep = ~np.isnan(x)
    inside = keep & (np.abs(x) < 0.8) & (np.abs(y) < 0.8)
    i = np.searchsorted(chart.alpha, x[inside])
    j = np.searchsorted(chart.beta, y[inside])
    nearest = np.abs(chart.z[i, j][:, None] - np.array(chart.levels)[None]).min(axis=1)
    assert nearest.max() < 0.5 * (chart.levels[1] - chart.levels[0])


def test_that_hovering_says_where(contours: ContourWidget) -> None:
    heard: list[object] = []
    contours.hovered.connect(heard.append)
    scene = contours.plot.scene()
    scene.sigMouseMoved.emit(contours.plot.getViewBox().mapViewToScene(QPointF(0.5, -0.25)))
    scene.sigMouseMoved.emit(QPointF(-5, -5))
    alpha, beta, _ = heard[0]  # type: ignore[misc]
    assert (alpha, beta) == pytest.approx((0.5, -0.25), abs=0.02)
    assert heard[1] is None


def test_that_what_is_not_finite_is_transparent() -> None:
    rgba = mapped(np.array([0.0, 1.0, np.nan, np.inf]), (0.0, 1.0), "viridis")
    assert list(rgba[:, 3]) == [255, 255, 0, 0]
    np.testing.assert_array_equal(rgba[1], colour_table("viridis")[-1])
