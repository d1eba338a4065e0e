import numpy as np
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from qt_application import Keep

from landscope_app.plots import slices
from landscope_app.plots.bars import PADDING, ROW
from landscope_app.plots.charts import MapChart
from landscope_app.plots.map import told
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK
from landscope_app.views.saturation import SaturationView


@pytest.fixture
def view(keep: Keep) -> SaturationView:
    document, selection = Document(fake_session()), Selection()
    selection.settle(document.session)
    made = SaturationView(document, selection, DARK)
    keep(made)
    made.resize(340, 560)
    made.show()
    return made


def _click(view: SaturationView, row: int) -> None:
    place = QPoint(60, int(PADDING + (row + 0.5) * ROW))
    QTest.mouseClick(view.bars.canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    view.refresh_now()


def test_that_a_click_opens_the_spectrum_of_a_layer_and_a_second_one_closes_it(view: SaturationView) -> None:
    assert not view.spectrum.isVisible()
    _click(view, 2)
    assert view.selection.layer == LAYERS[2]
    assert LAYERS[2] in view.spectrum.spectrum.chart.title
    assert view.spectrum.isVisible()
    _click(view, 2)
    assert view.selection.layer == ""
    assert not view.spectrum.isVisible()


def test_that_the_keyboard_walks_through_the_layers(view: SaturationView) -> None:
    for key, layer in (
        (Qt.Key.Key_Down, LAYERS[0]),
        (Qt.Key.Key_Down, LAYERS[1]),
        (Qt.Key.Key_Up, LAYERS[0]),
        (Qt.Key.Key_End, "attention"),
        (Qt.Key.Key_Escape, ""),
    ):
        QTest.keyClick(view.bars.canvas, key)
        view.refresh_now()
        assert view.selection.layer == layer


def test_that_bars_follow_the_threshold_at_once(view: SaturationView) -> None:
    _click(view, 2)
    before = view.bars.canvas.chart.bars[0].value
    view.spectrum.share.setValue(50.0)
    assert view.bars.canvas.chart.bars[0].value < before
    view.spectrum.spectrum.dragged.emit(0.999)
    assert view.spectrum.share.value() == pytest.approx(99.9)
    view.spectrum.as_measured.click()
    assert view.selection.threshold is None
    assert view.bars.canvas.chart.bars[0].value == before


@pytest.mark.parametrize(("keys", "share"), [("99.95", 0.9995), ("5", 0.05), ("0.5", 0.005), ("100", 1.0)])
def test_that_a_threshold_can_be_typed_digit_by_digit(view: SaturationView, keys: str, share: float) -> None:
    _click(view, 2)
    box = view.spectrum.share
    box.selectAll()
    for key in keys:
        QTest.keyClicks(box, key)
        view.invalidate()  # as when a result arrives meanwhile
        view.refresh_now()
    assert view.selection.threshold is None
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert view.selection.threshold == pytest.approx(share)
    assert box.text() == f"{keys} %"


def test_that_nonsense_typed_as_threshold_changes_nothing(view: SaturationView) -> None:
    _click(view, 2)
    box = view.spectrum.share
    for keys in ("abc", "nan", "-3", "1e5", "0", ""):
        box.selectAll()
        QTest.keyClicks(box, keys)
        QTest.keyClick(box, Qt.Key.Key_Return)
        assert 0.0 < (view.selection.threshold or 0.99) <= 1.0
    assert view.bars.canvas.chart.bars


def test_that_intrinsic_dimensions_are_whole_numbers(view: SaturationView) -> None:
    view.statistic.setCurrentIndex(1)
    view.refresh_now()
    bars = [bar for bar in view.bars.canvas.chart.bars if np.isfinite(bar.value) and "dead" not in bar.flags]
    assert bars
    assert all(bar.text == f"{bar.value:,.0f}" for bar in bars)
    view.over_training.click()
    view.refresh_now()
    view.map.finish()
    chart = view.map.canvas.chart
    assert f": {chart.values[0, 0]:.0f} " in told(chart, 0, 0)


def test_that_a_layer_without_a_finite_row_does_not_pass_for_dead(view: SaturationView) -> None:
    for saturation in view.document.session.saturation.values():
        for name, measured in saturation.measured.items():
            layers = list(measured.layers)
            blind = {"samples": 0, "nonfinite": 512, "idim": 0, "lsat": np.nan, "spectrum": np.empty(0)}
            layers[2] = replace(layers[2], flags=("nonfinite",), **blind)
            saturation.measured[name] = replace(measured, layers=tuple(layers))
    _click(view, 2)
    for wanted in ("spectrum", "samples"):
        view.selection.set(layer_view=wanted)
        view.refresh_now()
        assert view.spectrum.hint.text().startswith(f"No finite row of {LAYERS[2]} was seen here")
    view.statistic.setCurrentIndex(1)
    view.selection.set(threshold="0.5")
    view.refresh_now()
    assert view.bars.canvas.chart.bars[2].text == "NaN"


def test_that_a_dead_layer_says_why_it_has_no_spectrum(view: SaturationView) -> None:
    session = view.document.session
    for saturation in session.saturation.values():
        for measured in saturation.measured.values():
            measured.layers[2].spectrum[:] = 0.0
    _click(view, 2)
    assert "never varies" in view.spectrum.hint.text()
    assert view.spectrum.hint.isVisible()


def test_that_the_spectrum_follows_the_checkpoint(view: SaturationView) -> None:
    _click(view, 2)
    view.selection.set(checkpoint=names()[1])
    view.refresh_now()
    assert names()[1] in view.spectrum.spectrum.chart.title


def test_that_the_map_chooses_layer_and_checkpoint_above_the_spectrum(
    view: SaturationView,
) -> None:
    view.over_training.click()
    view.refresh_now()
    view.map.finish()
    assert view.map.isVisible()
    view.map.canvas.chosen.emit(LAYERS[3], names()[1])
    view.refresh_now()
    assert (view.selection.layer, view.selection.checkpoint) == (LAYERS[3], names()[1])
    assert view.spectrum.isVisible()
    view.over_training.click()
    view.refresh_now()
    assert view.bars.isVisible()


def test_that_the_map_follows_the_threshold(view: SaturationView) -> None:
    view.selection.set(saturation="map")
    view.refresh_now()
    view.map.finish()
    before = view.map.canvas.chart.values[0, 0]
    view.selection.set(threshold="0.5")
    view.refresh_now()
    view.map.finish()
    assert view.map.canvas.chart.values[0, 0] < before


def test_that_another_run_is_chosen_from_the_menu_and_left_again(view: SaturationView) -> None:
    view.refresh_now()
    assert [a.data() for a in view.compare.menu().actions()] == ["", RUNS[1]]
    view.compare.menu().actions()[1].trigger()
    view.refresh_now()
    assert view.bars.canvas.chart.other_title == RUNS[1]
    assert "same step" in view.foot.beside.whole
    assert RUNS[1][:5] in view.compare.text()
    view.selection.set(saturation="map", layer=LAYERS[1])
    view.refresh_now()
    view.map.finish()
    assert view.map.canvas.chart.other_title == RUNS[1]
    assert len(view.spectrum.spectrum.chart.series) == 4
    view.compare.menu().actions()[0].trigger()
    view.refresh_now()
    view.map.finish()
    assert view.map.canvas.chart.low == 0.0
    assert not view.foot.beside.isVisible()


def test_that_a_session_of_one_run_offers_no_comparison(keep: Keep) -> None:
    document, selection = Document(fake_session(RUNS[:1])), Selection()
    selection.settle(document.session)
    made = SaturationView(document, selection, DARK)
    keep(made)
    made.show()
    assert not made.compare.isVisible()


def test_that_value_rows_and_features_of_a_layer_stand_at_the_foot(view: SaturationView) -> None:
    view.refresh_now()
    assert "99 % of the variance" in view.foot.note.whole
    _click(view, 1)
    assert "n 91,968 · D 8" in view.foot.note.whole
    view.bars.canvas.pointed.emit(view.bars.canvas.chart.bars[-2])
    assert "n 1,437" in view.foot.note.whole
    view.bars.canvas.pointed.emit(None)
    assert "n 91,968" in view.foot.note.whole


def test_that_what_is_wrong_with_layers_is_counted_and_explained(view: SaturationView) -> None:
    view.refresh_now()
    for said in ("1 dead", "1 ! NaN", "1 * too few samples", "1 not observed"):
        assert said in view.foot.flags.whole


def test_that_the_table_of_what_is_shown_is_copied(view: SaturationView) -> None:
    view.refresh_now()
    (action,) = view.bars.canvas.actions()
    action.trigger()
    assert QGuiApplication.clipboard().text().splitlines()[1].split("\t")[0] == LAYERS[0]
    view.selection.set(saturation="map")
    view.refresh_now()
    view.map.finish()
    (action,) = view.map.canvas.actions()
    action.trigger()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 1 + view.map.canvas.chart.values.size


def test_that_a_long_training_is_read_in_slices_and_never_shown_in_part(
    view: SaturationView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "SLICE_S", 0.0)
    drawn: list[MapChart] = []
    view.map.drawn.connect(drawn.append)
    view.selection.set(saturation="map")
    view.refresh_now()
    assert not drawn
    view.map.finish()
    assert [chart.values.shape for chart in drawn] == [(len(LAYERS) + 1, len(names()))]
