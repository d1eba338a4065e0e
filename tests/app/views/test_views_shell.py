"""Notice, log, start page, choices, trust, closing."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QMainWindow, QPushButton
from window_fakes import project, settle, wait_until

from landscope.contract.events import Event, Notice
from landscope.session.model import LogLine
from landscope_app.settings import store
from landscope_app.state.choices import Choices
from landscope_app.state.cost import Cost
from landscope_app.state.document import Document
from landscope_app.state.preview import Refinement
from landscope_app.theme.colors import DARK, LIGHT
from landscope_app.views import closing
from landscope_app.views.choices import ChoiceBar
from landscope_app.views.log import LogView, line_html
from landscope_app.views.notice import NoticePanel
from landscope_app.views.start import DropArea, StartPage
from landscope_app.views.trust import TrustDialog
from landscope_app.work.context import Context


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def widgets(qapp):
    made = []

    def keep(widget):
        made.append(widget)
        return widget

    yield keep
    for widget in reversed(made):
        widget.close()
        widget.deleteLater()
    settle()


def button(widget, text):
    return next(b for b in widget.findChildren(QPushButton) if b.text() == text)


def test_that_a_notice_shows_sentence_and_details_and_copies_both(widgets):
    panel = widgets(NoticePanel())
    panel.tell("error", "No build_model in m.py.", "line 3")
    assert panel.isVisible() and panel.sentence == "No build_model in m.py."
    assert not panel._detail.isVisible()
    button(panel, "Details").click()
    assert panel._detail.isVisible()
    button(panel, "Copy").click()
    assert QGuiApplication.clipboard().text() == "No build_model in m.py.\n\nline 3"
    button(panel, "Close").click()
    assert not panel.isVisible()


def test_that_a_remark_does_not_cover_an_error(widgets):
    panel = widgets(NoticePanel())
    panel.tell("error", "Bad.")
    panel.tell("info", "Wrote a file.")
    assert panel.sentence == "Bad."
    panel.tell("error", "Worse.")
    assert panel.sentence == "Worse."


def test_that_markup_in_a_sentence_is_shown_as_text(widgets):
    assert "&lt;b&gt;" in line_html(LogLine(time=0.0, level="error", sentence="<b>"), DARK)


def test_that_the_log_follows_the_document_and_survives_a_theme(widgets):
    document = Document()
    view = widgets(LogView(document, DARK))
    document.take(Event("j", Notice(level="warning", sentence="Few samples.")))
    view.apply_theme(LIGHT)
    document.write("info", "Saved.")
    first, second = view.text().splitlines()
    assert "Warning: Few samples." in first
    assert "Saved." in second


def test_that_dropped_files_are_handed_on(widgets, tmp_path):
    area, seen = widgets(DropArea("Drop here")), []
    area.dropped.connect(seen.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    area.dropEvent(event)
    assert seen == [[str(tmp_path)]]


def test_that_recent_entries_that_are_gone_cannot_be_chosen(widgets, tmp_path):
    settings = store.Settings()
    settings.remember("/no/such/project", "project", 1.0)
    settings.remember(str(tmp_path), "project", 2.0)
    store.save(settings)
    context = Context()
    page, chosen = widgets(StartPage(context.settings)), []
    page.furnish(context)
    page.path_wanted.connect(chosen.append)
    wait_until(lambda: "not there" in page._recent.item(1).text())
    page._recent.itemClicked.emit(page._recent.item(1))
    page._recent.itemClicked.emit(page._recent.item(0))
    assert chosen == [str(tmp_path)]
    context.close()


def test_that_trust_is_given_by_the_button_only_and_no_is_the_default(widgets):
    window, trusted = widgets(QMainWindow()), []
    dialog = TrustDialog(project(0), lambda: trusted.append(1), window)
    assert button(dialog, "Distances only").isDefault()
    dialog.reject()
    assert not trusted
    button(TrustDialog(project(0), lambda: trusted.append(1), window), "Trust and run").click()
    assert trusted == [1]


def test_that_choices_come_back_as_they_were_shown(widgets):
    bar = widgets(ChoiceBar())
    bar.show_checkpoints(("a.pt", "b.pt"))
    bar.show_devices(("cpu", "cuda:0"))
    wanted = Choices(
        kind="random",
        base="b.pt",
        reach=0.5,
        batchnorm="frozen",
        seed=9,
        samples=300,
        grid=17,
        device="cuda:0",
    )
    bar.show_choices(wanted)
    assert bar.choices() == wanted


def test_that_each_change_is_told_and_its_cost_shown_before_the_run(widgets):
    bar, changed, wanted = widgets(ChoiceBar()), [], []
    bar.changed.connect(changed.append)
    bar.run_wanted.connect(wanted.append)
    bar._grid.setCurrentIndex(bar._grid.findData(9))
    bar.show_cost(Cost(changed[-1].evaluations, 12.0))
    assert bar._cost.text() == "81 points · about 12 s"
    bar.show_cost(Cost(81, None))
    assert "time not known yet" in bar._cost.text()
    bar._run.click()
    assert wanted == [bar.choices()]


def test_that_only_options_that_matter_are_shown(widgets):
    bar = widgets(ChoiceBar())
    bar.show()
    bar.toggle_options()
    bar.show_choices(Choices(kind="random"))
    assert bar._seed.isVisible() and bar._grid.isVisible() and not bar._points.isVisible()
    bar.show_choices(Choices(kind="trajectory"))
    assert not bar._seed.isVisible()
    bar.show_kind("line")
    assert bar._points.isVisible() and not bar._grid.isVisible()
    bar.show_kind("losses")
    assert not bar._run.isVisible()


def test_that_refining_is_offered_with_its_time_and_only_then(widgets):
    bar = widgets(ChoiceBar())
    bar.show()
    bar.show_refinement(Refinement(9, 33, 840.0))
    assert bar._refine.isVisible()
    assert bar._refine.text() == "Refine to 33×33 (about 14 min)"
    bar.show_refinement(None)
    assert not bar._refine.isVisible()


def test_that_every_control_of_the_bar_has_an_accessible_name(widgets):
    from PySide6.QtWidgets import QAbstractSpinBox, QComboBox

    bar = widgets(ChoiceBar())
    for kind in (QComboBox, QAbstractSpinBox, QPushButton):
        for control in bar.findChildren(kind):
            assert control.accessibleName(), control


@pytest.mark.parametrize(
    ("answer", "expected"), [("Save…", ["save"]), ("Close without saving", ["leave"]), ("Stay", [])]
)
def test_that_closing_with_unsaved_results_asks_once(widgets, answer, expected):
    window, done = widgets(QMainWindow()), []
    box = closing.ask(True, 2, lambda: done.append("save"), lambda: done.append("leave"), window)
    assert box.isVisible()
    assert "2 jobs" in box.text()
    button(box, answer).click()
    assert done == expected
    box.deleteLater()
