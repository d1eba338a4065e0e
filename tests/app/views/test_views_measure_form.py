from typing import Any

import pytest
from fake_session import fake_session
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget
from qt_application import Keep

from landscope.contract.options import SaturationOptions
from landscope_app.state.cost import Cost
from landscope_app.state.document import Document
from landscope_app.state.saturation_choices import SaturationChoices
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK
from landscope_app.views.measure_form import NO_SCRIPT, MeasureForm
from landscope_app.views.saturation import SaturationView


@pytest.fixture
def form(keep: Keep) -> MeasureForm:
    made = MeasureForm()
    keep(made)
    made.resize(300, 420)
    made.show()
    made.allow(True)
    return made


def _named(form: QWidget, name: str) -> Any:
    return next(child for child in form.findChildren(QWidget) if child.accessibleName() == name)


def _text(form: MeasureForm) -> str:
    return " ".join(label.text() for label in form.findChildren(QLabel) if label.isVisible())


def _heard(signal: Any) -> list[Any]:
    heard: list[Any] = []
    signal.connect(lambda *values: heard.append(values[0] if values else None))
    return heard


def test_that_choices_come_back_as_they_were_shown(form: MeasureForm) -> None:
    heard = _heard(form.changed)
    options = SaturationOptions(
        sat_threshold=0.9,
        conv_method="median",
        timeseries_method="timestepwise",
        idim_rule="delve",
        split="held-out",
        embedding=False,
        layers=("norm", "Embedding"),
        row_share=0.25,
    )
    choices = SaturationChoices(options=options, samples=777)
    form.show_choices(choices)
    assert form.choices() == choices
    assert heard == []


def test_that_every_field_is_told_and_reaches_the_run(form: MeasureForm) -> None:
    heard, wanted = _heard(form.changed), _heard(form.run_wanted)
    form.offer(("train", "test"), ())
    for name, text in (("Convolutions", "max"), ("Split", "test"), ("Samples", "128")):
        _named(form, name).setCurrentText(text)
    _named(form, "Further layers").setText("norm,")
    _named(form, "Share of rows").setValue(50.0)
    assert len(heard) == 5
    _named(form, "Measure saturation with these options").click()
    (asked,) = wanted
    assert asked.samples == 128
    assert asked.options == replace(
        SaturationOptions(), conv_method="max", split="test", layers=("norm",), row_share=0.5
    )


def test_that_the_cost_is_told_or_that_it_is_not_known(form: MeasureForm) -> None:
    form.show_cost(Cost(8, 12.0), 2048)
    assert "8 checkpoints × 2,048 samples · about 12 s" in _text(form)
    form.show_cost(Cost(8, None), 0)
    assert "8 checkpoints × all samples · time not known yet" in _text(form)


def test_that_without_a_script_it_says_what_is_missing(form: MeasureForm) -> None:
    run = _named(form, "Measure saturation with these options")
    form.allow(False)
    assert not run.isEnabled()
    assert NO_SCRIPT in _text(form) and run.toolTip() == NO_SCRIPT
    form.allow(True)
    assert run.isEnabled()
    assert NO_SCRIPT not in _text(form)


def test_that_a_refusal_stands_until_something_is_changed(form: MeasureForm) -> None:
    form.refuse("layers names 'nrom', but the model has no module so.")
    form.allow(True)
    assert "nrom" in _text(form)
    _named(form, "Further layers").setText("norm")
    assert "nrom" not in _text(form)


def test_that_known_names_complete_what_stands_behind_the_last_comma(form: MeasureForm) -> None:
    form.offer((), ("blocks.0.norm", "Embedding", "head"))
    field: QLineEdit = _named(form, "Further layers")
    form.activateWindow()
    assert QTest.qWaitForWindowActive(form, 5000)
    field.setFocus()
    QTest.keyClicks(field, "head, Emb")
    popup = field.completer().popup()
    assert popup.isVisible() and popup.model().rowCount() == 1
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(popup, key)
    assert form.choices().options.layers == ("head", "Embedding")


def test_that_all_is_reached_with_the_keyboard_and_escape_closes_it(form: MeasureForm) -> None:
    closed = _heard(form.closed)
    form.activateWindow()
    first = _named(form, "Convolutions")
    first.setFocus()
    seen, at = [], first
    for _ in range(12):
        seen.append(at.accessibleName() or at.property("text"))
        at = at.nextInFocusChain()
        while at.focusPolicy() == Qt.FocusPolicy.NoFocus or not at.isVisible():
            at = at.nextInFocusChain()
    named = ["Convolutions", "Sequences", "Counting rule", "Split", "Samples", "Further layers"]
    named += ["Share of rows", "Keep samples to look at", "Close without measuring"]
    assert [name for name in seen if name in named] == named
    QTest.keyClick(first, Qt.Key.Key_Escape)
    assert len(closed) == 1


def test_that_the_form_takes_the_place_of_the_bars_while_it_is_open(keep: Keep) -> None:
    document, selection = Document(fake_session()), Selection()
    selection.settle(document.session)
    view = SaturationView(document, selection, DARK)
    keep(view)
    view.resize(300, 300)
    view.show()
    assert view.bars.isVisible() and not view.form.isVisible()
    view.activateWindow()
    assert QTest.qWaitForWindowActive(view, 5000)
    view.measure.setFocus()
    QTest.keyClick(view.measure, Qt.Key.Key_Space)
    assert view.form.isVisible() and not view.bars.isVisible()
    assert view.form.isAncestorOf(view.focusWidget())
    buttons = view.form.findChildren(QPushButton)
    assert all(view.form.rect().contains(button.geometry()) for button in buttons)
    _named(view.form, "Close without measuring").click()
    assert view.bars.isVisible() and not view.measure.isChecked()
    assert view.measure.hasFocus()


def test_that_the_split_that_is_shown_can_be_chosen_once_two_were_measured(keep: Keep) -> None:
    document, selection = Document(fake_session()), Selection()
    session = document.session
    selection.settle(session)
    view = SaturationView(document, selection, DARK)
    keep(view)
    view.show()
    view.refresh_now()
    assert not view.split.isVisible()
    for measured in tuple(session.saturation[f"{selection.run}/train"].measured.values()):
        session.apply(replace(measured, mode="test"))
    view.refresh_now()
    assert view.split.isVisible() and view.split.currentText() == "train"
    view.split.setFocus()
    QTest.keyClick(view.split, Qt.Key.Key_Up)
    view.refresh_now()
    assert selection.split == "test"
    assert "test" in view.foot.note.whole
