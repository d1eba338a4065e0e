from __future__ import annotations

import pytest
from fake_session import RUNS, STEPS, fake_session, names
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from qt_application import Keep

from landscope.contract.deltas import CheckpointInfo, CheckpointMeasured, RunListed
from landscope.contract.events import Event, Partial
from landscope.contract.options import ProjectSpec
from landscope.session.model import Session
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK
from landscope_app.views.checkpoint_details import details_of
from landscope_app.views.checkpoint_header import trust_text, weight_choices
from landscope_app.views.checkpoints import CheckpointList

BROKEN = len(STEPS) + 1  # the row of the first run's broken file


@pytest.fixture
def document():
    return Document(fake_session())


@pytest.fixture
def selection(document):
    made = Selection()
    made.settle(document.session)
    return made


@pytest.fixture
def panel(application, document, selection, keep: Keep):
    made = CheckpointList(document, selection, DARK)
    keep(made)
    made.resize(320, 500)
    made.show()
    return made


def text(panel, row, column):
    return panel.table.files.index(row, column).data()


def listed(run, count, *, others=(), sets=()):
    infos = tuple(
        CheckpointInfo(name=f"step_{k:05d}.pt", step=k, size=4_000, sets=sets) for k in range(count)
    )
    return RunListed(run=run, folder=f"/runs/{run}", checkpoints=infos, others=others)


def tell(document, panel, delta):
    document.take(Event("list", Partial(delta=delta)))
    panel.refresh_now()


def test_that_rows_show_names_losses_and_why_files_are_left_out(panel):
    assert text(panel, 0, 0) == f"▾ {RUNS[0]}"
    assert text(panel, 1, 0).strip() == "step_00000"
    assert (text(panel, 1, 2), text(panel, 1, 3)) == ("2.35", "10.0 %")
    assert "broken.pt · broken.pt ends in the middle" in text(panel, BROKEN, 0)
    assert text(panel, BROKEN, 2) == "skipped"
    assert panel.table.files.index(BROKEN, 0).data(Qt.ItemDataRole.ForegroundRole) is not None


def test_that_a_click_selects_run_checkpoint_and_the_plane_of_that_run(panel, selection):
    selection.set(plane=f"{RUNS[0]}-random")
    panel.table.selectRow(panel.table.place(RUNS[1], names()[3]))
    assert (selection.run, selection.checkpoint) == (RUNS[1], names()[3])
    assert selection.plane == f"{RUNS[1]}-random"


def test_that_the_details_of_a_left_out_file_can_be_read_and_stay(panel, document, selection):
    chosen = selection.checkpoint
    panel.table.selectRow(BROKEN)
    said = panel.details.toPlainText()
    assert said.startswith("broken.pt\nleft out\nbroken.pt ends in the middle of a tensor.")
    assert selection.checkpoint == chosen
    panel.refresh_now()
    assert panel.details.toPlainText() == said
    selection.set(checkpoint=names()[0])
    panel.refresh_now()
    assert panel.current_name == names()[0]


def test_that_the_details_say_what_was_done(panel, document):
    info = CheckpointInfo(
        name="a.pt",
        step=1200,
        size=4_200_000,
        sha256="abc",
        aliases=("best.pt",),
        notes=("removed prefix module.", "2 buffers missing, kept from the model"),
        sets=("model", "model_ema"),
    )
    tell(document, panel, RunListed(run="new", folder="/new", checkpoints=(info,)))
    panel.table.selectRow(panel.table.place("new", "a.pt"))
    said = panel.details.toPlainText().splitlines()
    assert said == [
        "a.pt",
        "step 1,200 · 4.2 MB",
        "Removed prefix module.",
        "2 buffers missing, kept from the model.",
        "Weights: model (used), model_ema.",
        "The same as best.pt.",
        "SHA-256 abc",
    ]


def test_that_a_run_folds_by_click_and_key_and_stays_folded(panel, document):
    place = panel.table.place(RUNS[1], "")
    panel.table.clicked.emit(panel.table.files.index(place, 0))
    assert panel.table.place(RUNS[1], names()[0]) == -1
    tell(document, panel, listed(RUNS[0], 3))
    assert panel.table.place(RUNS[1], names()[0]) == -1
    panel.table.mark(RUNS[1], "")
    QTest.keyClick(panel.table, Qt.Key.Key_Right)
    assert panel.table.place(RUNS[1], names()[0]) > 0
    QTest.keyClick(panel.table, Qt.Key.Key_Left)
    assert panel.table.place(RUNS[1], names()[0]) == -1


def test_that_what_is_in_sight_and_marked_stays_while_a_listing_grows(panel, document, selection):
    tell(document, panel, listed(RUNS[0], 500))
    panel.table.selectRow(panel.table.place(RUNS[0], "step_00300.pt"))
    panel.table.scrollTo(panel.table.files.index(300, 0))
    above = panel.table.verticalScrollBar().value()
    tell(document, panel, listed(RUNS[0], 1000))
    assert panel.current_name == "step_00300.pt" == selection.checkpoint
    assert panel.table.verticalScrollBar().value() == above


def test_that_the_selected_checkpoint_comes_into_sight(panel, document, selection):
    selection.set(run=RUNS[0], checkpoint="step_04999.pt")
    tell(document, panel, listed(RUNS[0], 5000))
    place = panel.table.place(RUNS[0], "step_04999.pt")
    shown = panel.table.visualRect(panel.table.files.index(place, 0))
    assert panel.table.viewport().rect().contains(shown.center())


def test_that_only_rows_in_sight_are_looked_at(panel, document, monkeypatch):
    asked = set()
    data = panel.table.files.data
    monkeypatch.setattr(panel.table.files, "data", lambda i, role=0: asked.add(i.row()) or data(i, role))
    tell(document, panel, listed(RUNS[0], 5000))
    panel.table.viewport().grab()
    assert 0 < len(asked) < 100


def test_that_several_sets_of_weights_are_offered(panel, document):
    heard = []
    panel.header.weights_wanted.connect(heard.append)
    document.session.project = ProjectSpec(root="/p", script="/p/m.py")
    panel.refresh_now()
    assert not panel.header.weights.isVisible()
    tell(document, panel, listed(RUNS[0], 3, sets=("model", "model_ema")))
    box = panel.header.weights
    assert box.isVisible()
    assert [box.itemText(k) for k in range(box.count())] == ["model", "model_ema"]
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert heard == ["model_ema"]
    document.set_project(replace(document.session.project, weights="model_ema"))
    tell(document, panel, listed(RUNS[0], 3, sets=("model_ema", "model")))
    assert (box.currentText(), box.itemData(0)) == ("model_ema", "")


@pytest.mark.parametrize(
    ("sets", "wanted", "plain", "texts"),
    [
        (("model", "model_ema"), "", "model", ["model", "model_ema"]),
        (("model_ema", "model"), "model_ema", "", ["plain", "model_ema", "model"]),
        (("ema", "net"), "averaged", "net", ["net", "ema", "moving average"]),
        ((), "model_ema", "", ["plain", "model_ema"]),
    ],
)
def test_that_the_wanted_weights_are_always_among_the_choices(sets, wanted, plain, texts):
    assert [text for text, _ in weight_choices(sets, wanted, plain)] == texts


def test_that_trust_can_be_seen_and_pressed(panel, document):
    heard = []
    panel.header.trust_pressed.connect(lambda: heard.append(True))
    project = ProjectSpec(root="/p", script="/p/m.py")
    document.set_project(project)
    panel.refresh_now()
    assert panel.header.trust.text() == "not trusted · files only"
    document.set_project(replace(project, trusted=True))
    panel.refresh_now()
    assert panel.header.trust.text() == "trusted · runs code"
    panel.header.trust.click()
    assert heard == [True]
    assert trust_text(ProjectSpec(root="/p"))[0] == "no script · files only"


def test_that_a_run_says_how_many_files_it_has_and_leaves_out():
    one, two = CheckpointInfo(name="a.pt"), CheckpointInfo(name="b.pt")
    listed = RunListed(run="r", folder="/r", checkpoints=(one,), others=(two,))
    session = Session()
    session.apply(listed)
    assert details_of(session.runs["r"], None) == "/r\n1 checkpoint, 1 file left out"


@pytest.mark.parametrize(("error", "written"), [(0.25, "loss 1.500 ± 0.25"), (float("nan"), "loss 1.500 (n")])
def test_that_an_error_that_is_not_known_is_not_written(error, written):
    session, file = Session(), CheckpointInfo(name="a.pt", step=1)
    session.apply(RunListed(run="r", folder="/r", checkpoints=(file,)))
    session.apply(
        CheckpointMeasured(
            run="r", checkpoint="a.pt", split="train", loss=1.5, loss_se=error, metrics={}, samples=9
        )
    )
    assert written in details_of(session.runs["r"], file)
