import pytest
from fake_session import RUNS, STEPS, fake_session, names
from PySide6.QtWidgets import QApplication
from qt_application import Keep
from window_fakes import wait_until

from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK, LIGHT
from landscope_app.views.checkpoints import CheckpointList, CheckpointSlider
from landscope_app.views.distance import DistanceView
from landscope_app.views.losses import LossView
from landscope_app.views.saturation import SaturationView

VIEWS = (CheckpointList, CheckpointSlider, SaturationView, DistanceView, LossView)


@pytest.fixture
def document() -> Document:
    return Document(fake_session())


@pytest.fixture
def selection(document: Document) -> Selection:
    made = Selection()
    made.settle(document.session)
    return made


def _show(view_class, document, selection, keep: Keep):  # type: ignore[no-untyped-def]
    view = view_class(document, selection, DARK)
    keep(view)
    view.resize(320, 400)
    view.show()
    return view


def test_that_one_step_moves_list_slider_bars_and_cursors_together(
    application: QApplication, document: Document, selection: Selection, keep: Keep
) -> None:
    shown = [_show(view, document, selection, keep) for view in VIEWS]
    tree, slider, saturation, distance, losses = shown
    slider.go_first()
    slider.step(1)
    wait_until(lambda: losses.curves.cursor_position == STEPS[1])
    wait_until(lambda: distance.curves.cursor_position == STEPS[1])
    wait_until(lambda: names()[1] in saturation.bars.canvas.chart.title)
    wait_until(lambda: tree.current_name == names()[1])
    wait_until(lambda: slider.slider.value() == 1)
    assert slider.label.text() == "step 20  ·  2 of 8"


def test_that_playing_ends_at_the_last_checkpoint_and_starts_anew(
    application: QApplication, document: Document, selection: Selection, keep: Keep
) -> None:
    slider = _show(CheckpointSlider, document, selection, keep)
    slider.interval_ms = 1
    heard: list[object] = []
    slider.playing_changed.connect(heard.append)
    slider.play()
    assert selection.checkpoint == names()[0]
    wait_until(lambda: not slider.is_playing)
    assert selection.checkpoint == names()[-1]
    assert heard[0] is True
    assert heard[-1] is False


@pytest.mark.parametrize("view_class", [CheckpointList, SaturationView, DistanceView, LossView])
def test_that_an_empty_panel_says_what_will_appear(application: QApplication, view_class, keep: Keep) -> None:  # type: ignore[no-untyped-def]
    view = _show(view_class, Document(), Selection(), keep)
    assert "appear" in view.hint.text()
    assert view.hint.isVisible()


@pytest.mark.parametrize("view_class", VIEWS[1:])  # the list has the colours of the application
def test_that_every_panel_takes_another_theme(  # type: ignore[no-untyped-def]
    application: QApplication, view_class, document: Document, selection: Selection, keep: Keep
) -> None:
    view = _show(view_class, document, selection, keep)
    view.refresh_now()
    dark = view.grab().toImage().pixelColor(2, view.height() // 2)
    view.apply_theme(LIGHT)
    view.refresh_now()
    light = view.grab().toImage().pixelColor(2, view.height() // 2)
    assert light.lightness() > dark.lightness() + 100


def test_that_distance_can_be_shown_per_layer(
    application: QApplication, document: Document, selection: Selection, keep: Keep
) -> None:
    view = _show(DistanceView, document, selection, keep)
    selection.set(curves="layers")
    view.refresh_now()
    assert len(view.curves.chart.series) == len(document.session.distances[RUNS[0]].opened.layers)
    assert view.quantity.itemText(0) == "Distance from init"


def test_that_a_click_on_a_curve_selects_the_nearest_checkpoint(
    application: QApplication, document: Document, selection: Selection, keep: Keep
) -> None:
    view = _show(LossView, document, selection, keep)
    view.curves.picked.emit(2)
    assert selection.checkpoint == names()[2]
