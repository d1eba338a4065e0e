from dataclasses import replace as plain_replace

import numpy as np
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from qt_application import Keep

from landscope.contract import deltas as d
from landscope.contract.errors import LandscopeError
from landscope_app.plots import slices
from landscope_app.plots.distance_table import TOTAL
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK, LIGHT
from landscope_app.views.distance import DistanceView
from landscope_app.views.saturation import SaturationView

RUN, OTHER = RUNS
NO_KEYS = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def view(keep: Keep) -> DistanceView:
    document, selection = Document(fake_session()), Selection()
    selection.settle(document.session)
    made = DistanceView(document, selection, DARK)
    keep(made)
    made.resize(380, 360)
    made.show()
    return made


def _shows(view: DistanceView, **fields: str) -> None:
    view.selection.set(**fields)
    view.refresh_now()
    view.map.finish()


def _matrices(view: DistanceView) -> None:
    count = len(names())
    distance = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(float)
    for run in RUNS:
        view.document.session.apply(
            d.DistanceMatrices(run=run, checkpoints=names(), distance=distance, cosine=np.exp(-distance))
        )


def _cell(canvas: object, row: int, column: int) -> QPoint:
    area, (high, wide) = canvas.area(), canvas.chart.values.shape  # type: ignore[attr-defined]
    x = area.left() + (column + 0.5) * area.width() / wide
    return QPoint(int(x), int(area.top() + (row + 0.5) * area.height() / high))


def test_that_the_menu_changes_what_is_drawn(view: DistanceView) -> None:
    actions = {action.text(): action for action in view.menu.menu().actions()}
    for title, kind, page in (
        ("Map", "map", view.map),
        ("Table", "table", view.table),
        ("Curves", "curves", view.curves),
    ):
        actions[title].trigger()
        view.refresh_now()
        view.map.finish()
        assert view.selection.chosen.distance == kind
        assert view.menu.text() == title
        assert page.isVisible()


def test_that_a_matrix_that_is_not_there_yet_says_so(view: DistanceView) -> None:
    _shows(view, distance="matrix")
    assert "appears here" in view.hint.text()
    _matrices(view)
    view.refresh_now()
    assert view.matrix.isVisible()
    assert [view.quantity.itemText(k) for k in range(view.quantity.count())] == [
        f"{title} · {run}" for run in RUNS for title in ("Distance", "Cosine")
    ]


def test_that_the_relative_switch_goes_to_the_other_of_a_pair_and_back(view: DistanceView) -> None:
    switch = next(one for one in view.menu.menu().actions() if "Relative" in one.text())
    for key in ("relative", "distance"):
        switch.trigger()
        view.refresh_now()
        assert view.quantity.currentData() == view.selection.chosen.quantity == key
    _shows(view, quantity="norm")
    assert not switch.isEnabled()


def test_that_logarithmic_axes_are_chosen_in_the_menu(view: DistanceView) -> None:
    actions = {one.text(): one for one in view.menu.menu().actions()}
    actions["Logarithmic values"].trigger()
    actions["Logarithmic steps"].trigger()
    view.refresh_now()
    assert (view.curves.chart.log_x, view.curves.chart.log_y) == (True, True)
    _shows(view, quantity="cosine")
    assert not actions["Logarithmic values"].isEnabled()


def test_that_a_cell_of_the_map_selects_layer_and_checkpoint(view: DistanceView) -> None:
    _shows(view, distance="map")
    QTest.mouseClick(view.map.canvas, Qt.MouseButton.LeftButton, NO_KEYS, _cell(view.map.canvas, 4, 3))
    view.refresh_now()
    assert (view.selection.layer, view.selection.checkpoint) == (LAYERS[4], names()[3])
    assert view.note.whole.startswith(f"{LAYERS[4]} at {names()[3]}: ")


def test_that_a_row_per_parameter_selects_its_layer(view: DistanceView) -> None:
    _shows(view, distance="map", rows="parameters")
    assert view.map.canvas.chart.rows[4] == f"{LAYERS[4]}.weight"
    QTest.mouseClick(view.map.canvas, Qt.MouseButton.LeftButton, NO_KEYS, _cell(view.map.canvas, 4, 3))
    assert view.selection.layer == LAYERS[4]
    view.refresh_now()
    QTest.keyClick(view.map.canvas, Qt.Key.Key_Down)
    assert view.selection.chosen.row == f"{LAYERS[5]}.weight"


def test_that_a_cell_of_the_matrix_selects_both_checkpoints(view: DistanceView) -> None:
    _matrices(view)
    _shows(view, distance="matrix")
    QTest.mouseClick(view.matrix.canvas, Qt.MouseButton.LeftButton, NO_KEYS, _cell(view.matrix.canvas, 5, 2))
    view.refresh_now()
    assert view.selection.checkpoint == names()[5]
    assert view.selection.chosen.beside == names()[2]
    assert view.note.whole == f"{names()[5]} and {names()[2]}: 3.00"


def test_that_matrices_of_another_run_can_be_chosen(view: DistanceView) -> None:
    _matrices(view)
    _shows(view, distance="matrix")
    view.quantity.setCurrentIndex(2)
    view.refresh_now()
    assert OTHER in view.matrix.canvas.chart.title
    QTest.mouseClick(view.matrix.canvas, Qt.MouseButton.LeftButton, NO_KEYS, _cell(view.matrix.canvas, 5, 2))
    assert view.selection.run == RUN


def test_that_a_click_near_a_curve_selects_its_layer_and_ctrl_gathers_layers(view: DistanceView) -> None:
    _shows(view, curves="layers")
    QTest.qWait(20)
    box = view.curves.plot.getViewBox()
    chart = view.curves.chart
    for layer, held in ((17, NO_KEYS), (9, Qt.KeyboardModifier.ControlModifier)):
        place = QPointF(float(chart.series[layer].x[6]), float(chart.series[layer].y[6]))
        point = view.curves.plot.mapFromScene(box.mapViewToScene(place))
        QTest.mouseClick(view.curves.plot.viewport(), Qt.MouseButton.LeftButton, held, point)
        assert view.selection.layer == LAYERS[layer]
    assert view.selection.checkpoint == names()[6]
    assert view.selection.chosen_layers == (LAYERS[9],)
    _shows(view, curves="chosen")
    assert view.curves.shown_names() == (LAYERS[9],)


def test_that_the_curve_pointed_at_is_named(view: DistanceView) -> None:
    _shows(view, curves="layers")
    QTest.qWait(20)
    series = view.curves.chart.series[12]
    place = QPointF(float(series.x[5]), float(series.y[5]))
    view.curves._moved(view.curves.plot.getViewBox().mapViewToScene(place))
    assert view.curves.readout.whole.startswith(f"step 400 · {LAYERS[12]} ")


def test_that_the_keyboard_walks_through_layers_and_checkpoints(view: DistanceView) -> None:
    _shows(view, curves="layers")
    view.activateWindow()
    view.curves.plot.setFocus()
    QTest.qWait(20)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Space):
        QTest.keyClick(view.curves.plot, key)
    assert (view.selection.layer, view.selection.checkpoint) == (LAYERS[1], names()[-2])
    assert view.selection.chosen_layers == (LAYERS[1],)
    QTest.keyClick(view.curves.plot, Qt.Key.Key_Escape)
    assert view.selection.layer == ""


def test_that_two_runs_are_overlaid_and_one_can_be_put_out(view: DistanceView) -> None:
    view.compare.chosen.emit(OTHER)
    _shows(view, curves="layers")
    assert len(view.curves.chart.series) == 2 * len(LAYERS)
    assert view.curves.legend.is_ramp
    view.curves.legend.toggled.emit(OTHER)
    assert view.curves.shown_names() == LAYERS


def test_that_many_curves_are_drawn_in_slices_and_completely(view: DistanceView) -> None:
    _shows(view, curves="layers")
    view.grab()
    bundle = view.curves._bundle
    assert bundle.is_drawing
    bundle.finish()
    image = view.curves.plot.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(60, 370) for y in range(0, image.height(), 2)}
    assert len(colours) > 50  # the shades of the layers


def test_that_the_table_is_sorted_with_undefined_values_last(view: DistanceView) -> None:
    first = view.document.session.distances[RUN].measured[names()[-1]]
    first.layers["distance"][6] = np.nan
    _shows(view, distance="table")
    model = view.table.values
    for order, sign in ((Qt.SortOrder.AscendingOrder, 1), (Qt.SortOrder.DescendingOrder, -1)):
        view.table.sortByColumn(1, order)
        values = [model.table.columns[0].values[k] for k in model.order]
        assert np.isnan(values[-1])
        assert (np.diff(values[:-1]) * sign >= 0).all()
    assert model.data(model.index(len(LAYERS), 1), Qt.ItemDataRole.DisplayRole) == "–"
    view.refresh_now()
    assert np.isnan(model.table.columns[0].values[model.order[-1]])


def test_that_rows_of_the_table_select_layers(view: DistanceView) -> None:
    _shows(view, distance="table")
    table = view.table
    table.selectRow(3)
    assert view.selection.layer == LAYERS[2]
    assert view.selection.chosen_layers == ()
    rows = [table.visualRect(table.values.index(k, 0)).center() for k in (1, 4)]
    table.scrollToTop()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, NO_KEYS, rows[0])
    control = Qt.KeyboardModifier.ControlModifier
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, control, rows[1])
    assert view.selection.chosen_layers == (LAYERS[0], LAYERS[3])
    table.selectRow(0)
    assert table.values.table.rows[0] == TOTAL
    assert view.selection.layer == ""


@pytest.mark.parametrize("kind", ["curves", "map", "matrix", "table"])
def test_that_what_is_shown_is_copied_as_a_table(view: DistanceView, kind: str) -> None:
    _matrices(view)
    _shows(view, distance=kind)
    view.copy_table()
    head, *rows = QGuiApplication.clipboard().text().splitlines()
    wanted = {"curves": 8, "map": 8 * len(LAYERS), "matrix": 64, "table": 1 + len(LAYERS)}
    assert len(rows) == wanted[kind]
    assert all(row.count("\t") == head.count("\t") for row in rows)


def test_that_pictures_follow_what_is_shown(view: DistanceView) -> None:
    _matrices(view)
    for kind in ("curves", "map", "matrix"):
        _shows(view, distance=kind)
        assert not view.picture(640, 400).isNull()
    _shows(view, distance="table")
    with pytest.raises(LandscopeError, match="right click"):
        view.charts()


def test_that_a_map_is_made_in_slices_and_only_where_something_changed(
    view: DistanceView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "SLICE_S", 0.0)
    view.selection.set(distance="map")
    view.refresh_now()
    assert not view.map.canvas.chart.rows
    view.map.finish()
    chart = view.map.canvas.chart
    _shows(view, checkpoint=names()[2])
    assert view.map.canvas.chart is chart
    measured = view.document.session.distances[RUN].measured[names()[2]]
    view.document.session.apply(plain_copy(measured))
    view.refresh_now()
    view.map.finish()
    assert view.map.canvas.chart is not chart


def plain_copy(measured: d.DistancesMeasured) -> d.DistancesMeasured:
    """The same values as another delta."""
    return d.DistancesMeasured(**{name: getattr(measured, name) for name in measured.__struct_fields__})


def test_that_moving_through_checkpoints_makes_no_curve_anew(view: DistanceView) -> None:
    _shows(view, curves="layers")
    series = view.curves.chart.series
    _shows(view, checkpoint=names()[1])
    assert view.curves.chart.series is series
    assert view.curves.cursor_position == 20.0


def test_that_a_strange_view_of_a_session_shows_curves_of_the_distance(view: DistanceView) -> None:
    strange = {"distance": "pie", "quantity": "?", "curves": "x", "axes": "q", "rows": "z", "matrix": "a\tb"}
    view.selection.restore(plain_replace(view.selection.chosen, **strange))
    view.refresh_now()
    assert view.curves.isVisible()
    assert view.quantity.currentData() == "distance"
    _shows(view, distance="matrix")
    assert view.hint.isVisible()


def test_that_a_layer_that_only_distances_know_stays_selected_and_opens_no_spectrum(
    view: DistanceView, keep: Keep
) -> None:
    opened = view.document.session.distances[RUN].opened
    fields = {name: getattr(opened, name) for name in opened.__struct_fields__}
    view.document.session.apply(d.DistanceOpened(**{**fields, "layers": ("norm1", *LAYERS[1:])}))
    view.selection.set(layer="norm1")
    view.selection.settle(view.document.session)
    assert view.selection.layer == "norm1"
    saturation = SaturationView(view.document, view.selection, LIGHT)
    keep(saturation)
    saturation.show()
    saturation.refresh_now()
    assert not saturation.spectrum.isVisible()
