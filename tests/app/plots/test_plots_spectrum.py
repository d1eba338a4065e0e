import numpy as np
import pyqtgraph as pg
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from qt_application import Keep

from landscope.session.model import Session
from landscope.session.threshold import at_threshold
from landscope_app.plots.saturation_chart import saturation_chart
from landscope_app.plots.spectrum import SpectrumWidget
from landscope_app.plots.spectrum_chart import spectrum_chart
from landscope_app.theme.colors import DARK
from landscope_app.views.saturation_key import marks_key

RUN, NOW = RUNS[0], names()[2]


@pytest.fixture
def session() -> Session:
    return fake_session((RUN,))


def _measured(session: Session, **changes):  # type: ignore[no-untyped-def]
    return replace(next(iter(session.saturation.values())).measured[NOW], **changes)


def _with_spectrum(session: Session, spectrum: list[float], **changes):  # type: ignore[no-untyped-def]
    first = _measured(session).layers[0]
    layer = replace(first, spectrum=np.array(spectrum), dimension=len(spectrum))
    return _measured(session, layers=(layer,), **changes)


@pytest.mark.parametrize(("rule", "idim"), [("smallest_k", 2), ("delve", 1)])
def test_that_another_threshold_counts_by_the_rule_of_the_measurement(
    session: Session, rule: str, idim: int
) -> None:
    measured = _with_spectrum(session, [6.0, 3.0, 0.5, 0.5], settings={"idim_rule": rule})
    (layer,) = at_threshold(measured, 0.85).layers
    assert (layer.idim, layer.lsat) == (idim, idim / 4)


def test_that_without_another_threshold_everything_stays_as_measured(session: Session) -> None:
    measured = _measured(session)
    assert at_threshold(measured, None) is measured
    assert at_threshold(measured, measured.threshold) is measured


def test_that_a_layer_without_value_stays_without_one(session: Session) -> None:
    empty = replace(_measured(session).layers[0], lsat=float("nan"), spectrum=np.empty(0), samples=0)
    (layer,) = at_threshold(_measured(session, layers=(empty,)), 0.5).layers
    assert np.isnan(layer.lsat)


def test_that_bars_and_their_marks_follow_the_threshold(session: Session) -> None:
    half = saturation_chart(session, RUN, NOW, threshold=0.5).bars[0]
    most = saturation_chart(session, RUN, NOW, threshold=0.999).bars[0]
    assert half.value < most.value
    assert half.reference < most.reference


def test_that_a_mark_keeps_where_a_bar_stood_with_the_threshold_of_the_measurement(session: Session) -> None:
    moved = saturation_chart(session, RUN, NOW, threshold=0.5)
    as_measured = saturation_chart(session, RUN, NOW)
    assert moved.bars[0].as_measured == as_measured.bars[0].value
    assert "99 %" in marks_key(moved)
    assert np.isnan(as_measured.bars[0].as_measured)
    assert np.isnan(saturation_chart(session, RUN, NOW, "trace", threshold=0.5).bars[0].as_measured)


def test_that_a_bar_of_the_intrinsic_dimension_never_leaves_its_track(session: Session) -> None:
    chart = saturation_chart(session, RUN, NOW, "idim", threshold=1.0)
    assert max(b.value for b in chart.bars if np.isfinite(b.value)) <= chart.high


def test_that_the_note_tells_both_thresholds(session: Session) -> None:
    assert (
        "90 % of the variance (measured with 99 %)" in saturation_chart(session, RUN, NOW, threshold=0.9).note
    )
    assert "measured with" not in saturation_chart(session, RUN, NOW).note


def test_that_shares_of_the_spectrum_add_up_to_one_and_the_mark_is_the_dimension(session: Session) -> None:
    chart = spectrum_chart(session, RUN, NOW, LAYERS[0], threshold=0.9)
    each, added = chart.series
    assert each.y.sum() == pytest.approx(1.0)
    assert added.y[-1] == pytest.approx(1.0)
    assert chart.level == 0.9
    k = int(chart.marks[0])
    assert added.y[k - 1] >= 0.9 > added.y[k - 2]


@pytest.mark.parametrize(("layer", "why"), [("attention", "a function"), ("gone", "not in this model")])
def test_that_a_layer_without_spectrum_says_why(session: Session, layer: str, why: str) -> None:
    chart = spectrum_chart(session, RUN, NOW, layer)
    assert not chart.series
    assert why in chart.empty


def test_that_the_line_is_dragged_by_the_mouse(
    session: Session, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(pg.CONFIG_OPTIONS, "mouseRateLimit", 0)  # no move is dropped for coming too soon
    widget = SpectrumWidget(DARK)
    keep(widget)
    widget.resize(400, 300)
    widget.show()
    widget.set_chart(spectrum_chart(session, RUN, NOW, LAYERS[0], threshold=0.9))
    heard: list[float] = []
    widget.dragged.connect(heard.append)
    QTest.qWait(0)
    box = widget.plot.getViewBox().sceneBoundingRect()
    middle = box.center().x()

    def send(kind: QEvent.Type, share: float, button: Qt.MouseButton, held: Qt.MouseButton) -> None:
        y = widget.level.getViewBox().mapViewToScene(QPointF(0, share)).y()
        at = QPointF(widget.plot.mapFromScene(QPointF(middle, y)))
        view = widget.plot.viewport()
        event = QMouseEvent(
            kind, at, QPointF(view.mapToGlobal(at)), button, held, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(view, event)

    none, left = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
    send(QEvent.Type.MouseMove, 0.9, none, none)
    send(QEvent.Type.MouseButtonPress, 0.9, left, left)
    send(QEvent.Type.MouseMove, 0.7, none, left)
    send(QEvent.Type.MouseMove, 0.5, none, left)
    send(QEvent.Type.MouseButtonRelease, 0.5, left, none)
    assert heard
    assert abs(heard[-1] - 0.5) < 0.03


@pytest.mark.parametrize("directions", [2, 4, 8, 500])
def test_that_directions_are_counted_in_whole_numbers(session: Session, keep: Keep, directions: int) -> None:
    widget = SpectrumWidget(DARK)
    keep(widget)
    widget.set_chart(spectrum_chart(session, RUN, NOW, LAYERS[0]))
    axis = widget.plot.getAxis("bottom")
    ((_, positions),) = axis.tickValues(0.9, directions + 0.1, 250)
    assert positions
    assert all(float(p).is_integer() for p in positions)
    assert axis.tickStrings(positions, 1.0, 1.0) == [str(int(p)) for p in positions]
