from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fake_session import RUNS, all_deltas, fake_session

from landscope.contract import events as e
from landscope.session.model import Session
from landscope_app.state.document import Document


@pytest.fixture
def document(tmp_path, monkeypatch):
    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))
    made = Document()
    yield made
    made.close()


def test_that_deltas_are_applied_before_anybody_hears_of_them(document):
    seen = []
    document.listen(lambda _delta: seen.append(len(document.session.runs)))
    document.take(e.Event("", e.Partial(delta=next(all_deltas()))))
    assert seen == [1]


def test_that_results_make_it_dirty_once_and_sentences_do_not(document):
    told = []
    document.listen_state(lambda: told.append(document.dirty))
    document.take(e.Event("", e.Notice(level="info", sentence="Hello.")))
    assert told == []
    for delta in all_deltas():
        document.take(e.Event("", e.Partial(delta=delta)))
    assert told == [True]


def test_that_the_log_hears_every_sentence(document):
    lines = []
    document.listen_log(lambda line: lines.append((line.level, line.sentence)))
    document.take_all(
        [
            e.Event("j", e.Notice(level="warning", sentence="Few samples.")),
            e.Event("j", e.Progress(done=1, total=2)),
            e.Event("j", e.Failed(sentence="No model.")),
        ]
    )
    document.write("info", "Saved.")
    assert lines == [("warning", "Few samples."), ("error", "No model."), ("info", "Saved.")]


def test_that_another_session_is_read_anew_and_clean(document):
    heard = []
    document.take(e.Event("", e.Partial(delta=next(all_deltas()))))
    document.listen(heard.append)
    document.replace(Session(title="other"), Path("/x/other.h5"))
    assert heard == [None]
    assert (document.dirty, document.title) == (False, "other.h5")


def test_that_what_arrives_while_saving_makes_it_dirty_again_and_is_not_in_the_file(document, tmp_path):
    from landscope.session.read import read

    document.replace(fake_session())
    plane = next(iter(document.session.planes))
    document.take(e.Event("", e.Partial(delta=next(all_deltas()))))
    save = document.file_writer(tmp_path / "s.h5")
    assert not document.dirty
    file = save()
    document.take(e.Event("", e.Partial(delta=next(all_deltas()))))
    document.saved()
    assert document.dirty
    assert document.path == file
    again = read(file)
    assert np.array_equal(
        again.planes[plane].values["loss"], document.session.planes[plane].values["loss"], equal_nan=True
    )


def test_that_a_snapshot_does_not_change(document):
    document.replace(fake_session())
    plane = document.session.planes[next(iter(document.session.planes))]
    copy = document.snapshot()
    plane.values["loss"][0, 0] = 123.0
    assert copy.planes[plane.opened.id].values["loss"][0, 0] != 123.0
    assert set(copy.runs) == set(RUNS)
