from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QMenu
from qt_application import Keep

from landscope_app.plots.charts import CurveChart, Series
from landscope_app.plots.curves import CurvesWidget
from landscope_app.plots.lines import LineProfile
from landscope_app.theme.colors import DARK, LIGHT

X = np.array([0.0, 10.0, 20.0])
CHART = CurveChart(
    "t",
    "step",
    "loss",
    (
        Series("train loss", X, np.array([3.0, 2.0, 1.0]), np.full(3, 0.02), 0, group="train"),
        Series(
            "train accuracy", X, np.array([0.1, 0.5, 0.9]), None, 0, dashed=True, right=True, group="train"
        ),
    ),
    right_title="accuracy",
    cursor=10.0,
    stops=X,
    names=("a", "b", "c"),
)


@pytest.fixture
def curves(keep: Keep) -> CurvesWidget:
    widget = CurvesWidget(DARK)
    keep(widget)
    widget.resize(500, 300)
    widget.set_chart(CHART)
    return widget


def test_that_the_readout_says_the_values_at_the_cursor(curves: CurvesWidget) -> None:
    assert curves.readout.whole == "step 10 · train loss 2.00 ± 0.02 · train accuracy 0.500"


def test_that_moving_the_cursor_moves_the_readout(curves: CurvesWidget) -> None:
    curves.set_chart(replace(CHART, cursor=20.0))
    assert "train loss 1.00" in curves.readout.whole
    assert curves.cursor_position == 20.0


def test_that_everything_is_inside_the_axes(curves: CurvesWidget) -> None:
    (x0, x1), (y0, y1) = curves.plot.getViewBox().viewRange()
    assert x0 < 0
    assert x1 > 20
    assert y0 < 1
    assert y1 > 3


def test_that_a_gap_and_infinity_do_not_spoil_the_range(curves: CurvesWidget) -> None:
    broken = replace(CHART.series[0], y=np.array([np.nan, np.inf, 1.0]))
    curves.set_chart(replace(CHART, series=(broken, CHART.series[1])))
    assert np.isfinite(curves.plot.getViewBox().viewRange()).all()


def test_that_a_click_in_the_legend_hides_the_group(curves: CurvesWidget) -> None:
    curves.legend.toggled.emit("train")
    assert curves.shown_names() == ()
    curves.legend.toggled.emit("train")
    curves.legend.toggled.emit("accuracy")
    assert curves.shown_names() == ("train loss",)


def test_that_a_logarithmic_axis_shows_decades(curves: CurvesWidget) -> None:
    series = replace(CHART.series[0], y=np.array([0.01, 1.0, 100.0]))
    curves.set_chart(replace(CHART, series=(series,), right_title="", log_y=True))
    low, high = curves.plot.getViewBox().viewRange()[1]
    assert (round(low), round(high)) == (-2, 2)
    ticks = curves.plot.getAxis("left").tickValues(low, high, 300)[0][1]
    assert "100" in curves.plot.getAxis("left").tickStrings(ticks, 1, 1)


def test_that_many_layers_get_a_ramp_instead_of_names(curves: CurvesWidget) -> None:
    many = tuple(Series(f"layer{k}", X, X * k, shade=k / 19) for k in range(20))
    curves.set_chart(replace(CHART, series=many, right_title=""))
    assert curves.legend.is_ramp
    assert "over 20 layers" in curves.readout.whole


def test_that_new_values_of_the_same_curves_are_drawn(curves: CurvesWidget) -> None:
    grown = replace(CHART.series[0], y=np.array([5.0, 5.0, 5.0]))
    curves.set_chart(replace(CHART, series=(grown, CHART.series[1])))
    assert "train loss 5.00" in curves.readout.whole


def test_that_a_line_marks_its_two_checkpoints(application: QApplication, keep: Keep) -> None:
    line = LineProfile(LIGHT)
    keep(line)
    line.set_chart(replace(CHART, marks=(0.0, 1.0)))
    assert [u.value() for u in line.uprights] == [0.0, 1.0]
    line.apply_theme(DARK)
    assert len(line.uprights) == 2


def test_that_no_menu_of_the_plot_library_can_be_seen(
    application: QApplication, curves: CurvesWidget
) -> None:
    curves.show()
    application.processEvents()
    assert not [menu for menu in curves.findChildren(QMenu) if menu.isVisible()]
