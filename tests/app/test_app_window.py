"""The window as a whole, over hosts that compute nothing."""

from __future__ import annotations

import os

import msgspec
import numpy as np
import pytest
from fake_session import LAYERS, RUNS, all_deltas
from PySide6.QtWidgets import QPushButton
from window_fakes import ARGUMENTS, ENDLESS, FAILING, PLANE, QUICK, fake_host, project, settle, wait_until

from landscope.contract.events import Event, Partial
from landscope.contract.job import PlaneJob
from landscope.contract.options import LandscapeOptions, ProjectSpec
from landscope.session.model import SAMPLED
from landscope_app.hosts.engines import Engines
from landscope_app.theme.colors import DARK
from landscope_app.views.setup_panel import SetupPanel
from landscope_app.views.trust import RevokeDialog, TrustDialog
from landscope_app.window import MainWindow
from landscope_app.work.context import Context
from landscope_app.work.opening import load

pytestmark = pytest.mark.gl


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))
    context = Context(engines=Engines(make_host=fake_host))
    made = MainWindow(context, DARK)
    made.resize(1280, 800)
    made.show()
    yield made
    made.close_now()
    context.close()
    made.deleteLater()
    settle()


def spec(behaviour: int, **more: object) -> ProjectSpec:
    wanted = {"landscape": LandscapeOptions(grid=9), "runs": ("/nowhere/runs/skip",), **more}
    return msgspec.structs.replace(project(behaviour), **wanted)


def opened(window: MainWindow, behaviour: int, **more: object) -> None:
    window.opener.show(spec(behaviour, **more))
    wait_until(lambda: window.workspace is not None and window.workspace.isVisible())


def feed(window: MainWindow) -> None:
    for delta in all_deltas():
        window.context.document.take(Event("", Partial(delta=delta)))
    window.context.selection.settle(window.context.document.session)


def test_that_the_window_begins_with_the_start_page_and_nothing_to_save(window):
    assert window.start.isVisible()
    assert window.workspace is None
    assert not window.registry["file.save"].isEnabled()


def test_that_opening_a_project_shows_the_workspace_and_runs_its_first_jobs(window):
    opened(window, QUICK)
    wait_until(lambda: not window.context.engines.busy)
    states = {row.id: row.state for row in window.context.engines.table.rows}
    assert set(states) == {
        "list",
        "skip-saturation",
        "skip-losses",
        "skip-distance",
        "skip-trajectory",
        "skip-random",
        "skip-line",
    }
    assert set(states.values()) == {"done"}


def test_that_a_failure_of_the_script_is_a_quiet_panel_and_the_window_goes_on(window):
    opened(window, FAILING)
    wait_until(lambda: window.notice.isVisible())
    assert window.notice.sentence == "The script has no build_model."
    assert window.workspace.isVisible()


def test_that_layer_threshold_and_map_can_be_undone_and_are_kept_with_the_session(window):
    opened(window, QUICK)
    feed(window)
    selection = window.context.selection
    window.history.reset()
    selection.set(layer=LAYERS[1], threshold="0.9", saturation="map", layer_view="samples", against=RUNS[1])
    kept = window.view_state()
    window.registry["view.undo"].trigger()
    assert (selection.layer, selection.threshold, selection.saturation) == ("", None, "bars")
    assert selection.against == ""
    assert selection.layer_view == "spectrum"
    window.restore_view(kept)
    assert (selection.layer, selection.threshold, selection.saturation) == (LAYERS[1], 0.9, "map")
    assert selection.against == RUNS[1]
    assert selection.layer_view == "samples"


def test_that_stepping_moves_the_selection_everywhere_and_can_be_undone(window):
    opened(window, QUICK)
    feed(window)
    window.history.reset()
    names = window.context.document.session.runs[RUNS[0]].names
    assert window.context.selection.checkpoint == names[-1]
    window.registry["checkpoints.previous"].trigger()
    assert window.context.selection.checkpoint == names[-2]
    window.registry["view.undo"].trigger()
    assert window.context.selection.checkpoint == names[-1]
    window.registry["view.redo"].trigger()
    assert window.context.selection.checkpoint == names[-2]


def test_that_a_host_killed_in_a_plane_leaves_its_points_and_the_plane_goes_on_from_them(window):
    opened(window, PLANE)
    session = window.context.document.session
    wait_until(lambda: "skip-random" in session.planes and session.planes["skip-random"].levels)
    engines = window.context.engines
    row = next(r for r in engines.busy if isinstance(r.job, PlaneJob) and r.active)
    for other in engines.busy:
        if other.id != row.id:
            engines.cancel(other.id)
    os.kill(engines.pid("landscape"), 9)
    wait_until(lambda: engines.table[row.id].state == "failed")
    assert "signal 9" in window.notice.sentence
    assert np.count_nonzero(session.planes["skip-random"].state == SAMPLED) == 25
    assert window.analyses.refinement("skip-random").points == 5
    window.analyses.refine("skip-random")
    again = engines.table["skip-random~2"]
    assert len(again.job.known.rows) == 25
    assert np.count_nonzero(session.planes["skip-random"].state == SAMPLED) == 25


def test_that_a_session_is_saved_with_its_view_and_found_as_left(window, tmp_path):
    from landscope.session.read import read

    opened(window, QUICK)
    feed(window)
    wait_until(lambda: not window.context.engines.busy)
    first = window.context.document.session.runs[RUNS[1]].names[0]
    window.context.selection.set(run=RUNS[1], checkpoint=first)
    window.workspace.show_kind("contour")
    saved = []
    window.files.saved.connect(saved.append)
    window.files.save(tmp_path / "s.h5")
    wait_until(lambda: saved)
    view = read(tmp_path / "s.h5").view
    window.context.selection.set(run=RUNS[0])
    window.workspace.show_kind("surface")
    window.restore_view(view)
    assert (window.context.selection.run, window.context.selection.checkpoint) == (RUNS[1], first)
    assert window.workspace.choices.kind == "contour"
    assert view["panels"]
    assert not window.context.document.dirty


def test_that_a_folder_that_is_not_trusted_is_asked_about_and_only_distances_run(window):
    from landscope_app.views.trust import TrustDialog

    opened(window, QUICK, trusted=False)
    wait_until(lambda: window.findChildren(TrustDialog))
    wait_until(lambda: not window.context.engines.busy)
    assert {row.id for row in window.context.engines.table.rows} == {"list", "skip-distance"}
    question = window.findChildren(TrustDialog)[0]
    assert not question.yes.isDefault()  # Enter alone must not run code
    question.accept()
    wait_until(lambda: "skip-trajectory" in window.context.engines.table)
    assert window.context.document.session.project.trusted


def test_that_closing_with_running_work_asks_first(window):
    from PySide6.QtWidgets import QMessageBox

    opened(window, ENDLESS)
    window.close()
    assert window.isVisible()
    box = window.findChildren(QMessageBox)[0]
    assert "still run or wait" in box.text()
    box.reject()


def test_that_the_theme_changes_everywhere_and_is_remembered(window, qapp):
    from landscope_app.settings import store

    opened(window, QUICK)
    window.registry["view.theme_light"].trigger()
    assert window.theme.name == "light"
    assert window.workspace.landscape.theme.name == "light"
    assert store.load().theme == "light"
    window.registry["view.theme_dark"].trigger()
    assert window.workspace.slider.theme.name == "dark"


def test_that_every_control_can_be_named_by_a_screen_reader(window):
    from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QPushButton, QToolButton

    opened(window, QUICK)
    feed(window)
    nameless = [
        control
        for kind in (QComboBox, QAbstractSpinBox, QPushButton, QToolButton)
        for control in window.findChildren(kind)
        if not (
            control.accessibleName() or control.text()
            if hasattr(control, "text")
            else control.accessibleName()
        )
        and control.isVisibleTo(window)
        and not control.objectName().startswith("qt_")
    ]
    assert not nameless, [(type(c).__name__, c.objectName(), c.parent()) for c in nameless]


def test_that_an_exception_nobody_caught_is_told_and_the_window_stays(window):
    from landscope_app.faults import Faults, sentence_for

    faults = Faults()
    faults.told.connect(window.context.tell)
    faults._uncaught(ValueError, ValueError("odd"), None)
    assert window.notice.sentence == sentence_for(ValueError("odd"))
    assert window.isVisible()


def test_that_results_left_unsaved_by_a_crash_are_offered_and_come_back(window, qapp, tmp_path):
    opened(window, QUICK)
    feed(window)
    wait_until(lambda: not window.context.engines.busy)
    loss = next(iter(window.context.document.session.planes.values())).values["loss"].copy()
    window.close_now()  # as after a signal: nothing was asked, the journal stays
    context = Context(engines=Engines(make_host=fake_host))
    second = MainWindow(context, DARK)
    second.show()
    wait_until(lambda: second.start._rescue.isVisible())
    second.start._rescue._take()
    wait_until(lambda: second.workspace is not None and context.document.session.planes)
    again = next(iter(context.document.session.planes.values())).values["loss"]
    assert np.array_equal(again, loss, equal_nan=True)
    assert context.document.dirty
    second.close_now(discard=True)
    third = MainWindow(Context(engines=Engines(make_host=fake_host)), DARK)
    third.show()
    third.context.background.wait()
    wait_until(lambda: third.start._recent.count() >= 0 and not third.start._rescue.isVisible(), 2)
    for other in (second, third):
        other.close_now()
        other.deleteLater()


def test_that_an_automatic_plane_stops_after_its_preview_and_offers_the_rest(window, monkeypatch):
    import landscope_app.work.analyses as analyses

    monkeypatch.setattr(analyses, "stops_here", lambda *_args: True)
    opened(window, PLANE)
    table = window.context.engines.table
    wait_until(lambda: table["skip-random"].state == "done")
    assert "Preview of 5×5" in table["skip-random"].sentence
    left = window.analyses.refinement("skip-random")
    assert (left.points, left.grid) == (5, 9)
    assert all("cancelled" not in line.sentence for line in window.context.document.session.log)


def test_that_the_error_of_a_script_that_wants_arguments_offers_to_give_them(window):
    opened(window, ARGUMENTS)
    wait_until(lambda: window.notice.isVisible())
    offer = next(b for b in window.notice.findChildren(QPushButton) if b.text() == "Give arguments…")
    assert offer.isVisible()
    offer.click()
    panel = window.findChild(SetupPanel)
    assert panel.isVisible()
    panel.close()
    window.context.tell("error", "Something else.")
    assert not offer.isVisible()


def test_that_other_weights_are_measured_anew_and_kept_for_the_next_time(window, tmp_path):
    root = tmp_path / "study"
    root.mkdir()
    window.opener.show(msgspec.structs.replace(spec(QUICK), root=str(root), script=str(root / "m.py")))
    wait_until(lambda: window.workspace is not None and window.workspace.isVisible())
    feed(window)
    assert window.context.document.session.saturation
    window.opener.use_weights("model_ema")
    assert window.context.document.session.project.weights == "model_ema"
    assert not window.context.document.session.saturation
    assert "model_ema" in window.notice.sentence
    wait_until(lambda: (root / "landscope.toml").exists())
    assert 'weights = "model_ema"' in (root / "landscope.toml").read_text()


def test_that_the_state_of_trust_leads_to_giving_and_taking_it(window):
    opened(window, QUICK, trusted=True)
    header = window.docks.all["project"].widget().header
    wait_until(lambda: header.trust.text() == "trusted · runs code")
    header.trust.click()
    dialog = window.findChild(RevokeDialog)
    assert dialog.isVisible()
    dialog.accept()
    wait_until(lambda: header.trust.text() == "not trusted · files only")
    header.trust.click()
    assert window.findChild(TrustDialog).isVisible()
    window.findChild(TrustDialog).reject()


def test_that_a_single_checkpoint_opens_its_folder(window, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "step_1.pt").write_bytes(b"x" * 2000)
    window.open_dropped([str(tmp_path / "run" / "step_1.pt")])
    wait_until(lambda: window.context.document.session.project is not None)
    assert window.context.document.session.project.root == str(tmp_path / "run")
    assert window.context.document.session.project.runs == (str(tmp_path / "run"),)
    wait_until(lambda: window.findChild(SetupPanel) is not None)
    window.findChild(SetupPanel).close()


def test_that_a_file_of_another_kind_opens_nothing(window, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "step_1.pt").write_bytes(b"x" * 2000)
    (tmp_path / "notes.txt").write_text("to do")
    window.open_dropped([str(tmp_path / "notes.txt")])
    wait_until(lambda: window.notice.isVisible())
    assert window.context.document.session.project is None


def test_that_nobody_is_asked_to_trust_a_script_that_cannot_serve(window, tmp_path):
    (tmp_path / "main.py").write_text("from models import build_model")
    window.opener.show(
        msgspec.structs.replace(
            spec(QUICK), script=str(tmp_path / "main.py"), root=str(tmp_path), trusted=False
        )
    )
    wait_until(lambda: window.findChild(SetupPanel) is not None)
    assert window.findChild(TrustDialog) is None
    window.findChild(SetupPanel).close()


@pytest.mark.parametrize("name", ["landscope_project.py", "model.py"])
def test_that_a_run_folder_is_opened_with_the_script_of_its_project(tmp_path, monkeypatch, name):
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    run = tmp_path / "study" / "runs" / "one"
    run.mkdir(parents=True)
    (run / "step_1.pt").write_bytes(b"x" * 2000)
    assert load(str(run)).script == ""
    (tmp_path / "study" / name).write_text("def build_model(): ...")
    for path in (run, run / "step_1.pt"):
        found = load(str(path))
        assert found.root == str(tmp_path / "study")
        assert found.script == str(tmp_path / "study" / name)
        assert found.runs == (str(run),)
        assert not found.trusted


def test_that_actions_say_which_panel_they_export_and_copy(window):
    opened(window, QUICK)
    feed(window)
    saturation = window.docks.all["saturation"].widget()
    saturation.bars.canvas.setFocus()
    window.in_use._follow(None, saturation.bars.canvas)
    assert window.registry["file.export_picture"].text() == "Export picture of the saturation…"
    window.registry["view.copy_picture"].trigger()
    assert "the saturation" in window.statusBar().currentMessage()
    window.registry["view.contour"].trigger()
    assert window.registry["view.copy_picture"].text() == "Copy picture of the landscape"
