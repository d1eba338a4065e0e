"""The recorder takes events in, saves beside the work, and its journal survives what the process does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landscope.contract import deltas as d
from landscope.contract.errors import SessionError
from landscope.contract.events import Done, Event, Failed, Log, Notice, Partial, Progress
from landscope.session import recorder as recorder_module
from landscope.session.deltas import as_deltas
from landscope.session.journal import Journal, SegmentOpened, journals_folder, segments
from landscope.session.model import Session
from landscope.session.read import read
from landscope.session.recorder import Recorder
from landscope.session.recover import abandoned, discard, records, recover


def measured(step: int) -> d.CheckpointMeasured:
    return d.CheckpointMeasured(
        run="net", checkpoint=f"{step}.pt", split="train", loss=step / 7, loss_se=0.1, metrics={}, samples=9
    )


def left_behind(recorder: Recorder) -> Path:
    """End a recorder as a crash does, after the journal's thread has written."""
    journal = recorder._journal
    assert journal is not None
    journal.close(remove=False)
    return journal.folder


def test_that_events_become_results_and_log_lines(small_session: Session) -> None:
    recorder = Recorder(Session(), journal=False)
    for delta in as_deltas(small_session):
        recorder.take(Event("j", Partial(delta=delta)))
    recorder.take(Event("j", Progress(done=1, total=2)))
    recorder.take(Event("j", Notice(level="warning", sentence="careful")))
    recorder.take(Event("j", Failed(sentence="broken", detail="traceback")))
    recorder.take(Event("j", Log(stream="stdout", text="hello\n")))
    recorder.take(Event("j", Done(summary="finished")))
    assert recorder.session.planes.keys() == {"p"}
    found = [(line.level, line.sentence, line.detail) for line in recorder.session.log]
    assert found == [
        ("warning", "careful", ""),
        ("error", "broken", "traceback"),
        ("stdout", "hello", ""),
        ("info", "finished", ""),
    ]


def test_that_the_log_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "_MAX_LOG", 3)
    recorder = Recorder(Session(), journal=False)
    for number in range(5):
        recorder.log("info", str(number))
    recorder.log("info", "x" * 5000)
    assert [line.sentence[:1] for line in recorder.session.log] == ["3", "4", "x"]
    assert len(recorder.session.log[-1].sentence) == 2000
    assert recorder.session.log[-1].detail.startswith("x" * 5000)


def test_that_saving_ends_with_an_equal_file_and_no_journal(
    small_session: Session, tmp_path: Path, as_plain: Any
) -> None:
    recorder = Recorder(small_session, tmp_path / "s.h5")
    recorder.apply(measured(1))
    assert recorder.changed
    recorder.save()
    assert not recorder.changed
    recorder.close()
    assert as_plain(read(tmp_path / "s.h5")) == as_plain(small_session)
    assert list(journals_folder().iterdir()) == []


def test_that_a_session_without_a_file_asks_for_one() -> None:
    recorder = Recorder(Session(), journal=False)
    with pytest.raises(SessionError, match="no file yet"):
        recorder.save()


def test_that_a_file_changed_by_somebody_else_is_not_replaced_unasked(
    small_session: Session, tmp_path: Path
) -> None:
    path = tmp_path / "s.h5"
    recorder = Recorder(small_session, path, journal=False)
    recorder.save()
    path.write_bytes(b"theirs, and longer than before?")
    with pytest.raises(SessionError, match="changed by another program"):
        recorder.save()
    assert path.read_bytes().startswith(b"theirs")
    recorder.save(overwrite=True)
    assert read(path).title == "small"


def test_that_events_are_taken_while_the_image_is_written(
    small_session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, go = threading.Event(), threading.Event()
    real = recorder_module.image

    def slowly(session: Session) -> bytes:
        writing.set()
        assert go.wait(10)
        return real(session)

    monkeypatch.setattr(recorder_module, "image", slowly)
    recorder = Recorder(small_session, tmp_path / "s.h5")
    worker = threading.Thread(target=recorder.save)
    worker.start()
    assert writing.wait(10)
    recorder.apply(measured(5))
    go.set()
    worker.join()
    assert recorder.changed
    assert not read(tmp_path / "s.h5").runs["net"].measured
    again = recover(left_behind(recorder))
    assert again.runs["net"].measured["train"]["5.pt"].loss == 5 / 7


def test_that_an_unsaved_session_is_recovered_whole(small_session: Session, as_plain: Any) -> None:
    recorder = Recorder(small_session)
    recorder.apply(measured(3))
    recorder.log("info", "a line")
    recorder.describe(title="renamed", view={"camera": [1.5, 2]})
    folder = left_behind(recorder)
    (found,) = abandoned()
    assert (found.folder, found.path) == (folder, "")
    assert as_plain(recover(folder)) == as_plain(small_session)
    discard(folder)
    assert abandoned() == []


def test_that_changes_since_the_save_are_recovered_onto_the_file(
    small_session: Session, tmp_path: Path, as_plain: Any
) -> None:
    recorder = Recorder(small_session, tmp_path / "s.h5")
    recorder.log("info", "before")
    recorder.save()
    recorder.log("info", "after")
    recorder.apply(measured(4))
    folder = left_behind(recorder)
    assert len(segments(folder)) == 1
    assert as_plain(recover(folder)) == as_plain(small_session)


def test_that_after_a_failed_save_nothing_is_lost(
    small_session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(small_session, tmp_path / "s.h5")
    recorder.save()
    recorder.apply(measured(1))

    def fail(*_arguments: Any) -> Path:
        raise SessionError("The disk is full.")

    monkeypatch.setattr(recorder_module, "replace_file", fail)
    with pytest.raises(SessionError):
        recorder.save()
    recorder.apply(measured(2))
    again = recover(left_behind(recorder))
    assert again.runs["net"].measured["train"].keys() == {"1.pt", "2.pt"}


def test_that_a_crash_between_replacing_and_forgetting_applies_nothing_twice(
    small_session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(small_session, tmp_path / "s.h5")
    recorder.log("info", "once")
    monkeypatch.setattr(Journal, "forget_before", lambda *_: None)
    recorder.save()
    folder = left_behind(recorder)
    assert len(segments(folder)) == 2
    assert [line.sentence for line in recover(folder).log] == ["once"]


def test_that_a_lost_file_is_recovered_from_its_backup(small_session: Session, tmp_path: Path) -> None:
    path = tmp_path / "s.h5"
    recorder = Recorder(small_session, path)
    recorder.save()
    recorder.save()
    recorder.apply(measured(1))
    folder = left_behind(recorder)
    path.write_bytes(b"gone")
    again = recover(folder)
    assert again.planes.keys() == {"p"}
    assert again.runs["net"].measured["train"].keys() == {"1.pt"}
    (tmp_path / "s.h5.bak").unlink()
    with pytest.raises(SessionError, match=r"builds on .*s\.h5"):
        recover(folder)


def test_that_a_torn_or_flipped_record_ends_the_replay_there(small_session: Session) -> None:
    recorder = Recorder(small_session)
    for step in range(5):
        recorder.apply(measured(step))
    (segment,) = segments(left_behind(recorder))
    whole = segment.read_bytes()
    total = len(list(records(segment)))
    segment.write_bytes(whole[:-1])
    assert len(list(records(segment))) == total - 1
    flipped = bytearray(whole)
    flipped[-20] ^= 1
    segment.write_bytes(flipped)
    assert len(list(records(segment))) == total - 1
    segment.write_bytes(whole + b"\xff\xff\xff\xff\xff\xff\xff\xff")
    assert len(list(records(segment))) == total


def test_that_a_full_disk_keeps_records_for_later(
    small_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(small_session)
    journal = recorder._journal
    assert journal is not None
    journal.flush()
    real = os.write

    def half_then_fail(descriptor: int, raw: Any) -> int:
        if len(raw) <= 8:
            raise OSError(28, "No space left on device")
        return real(descriptor, raw[:8])

    monkeypatch.setattr(os, "write", half_then_fail)
    recorder.apply(measured(1))
    journal.flush()
    monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    journal.flush()
    assert "not safe from a crash" in recorder.trouble
    monkeypatch.setattr(os, "write", real)
    journal.flush()
    assert recorder.trouble == ""
    assert recover(left_behind(recorder)).runs["net"].measured["train"].keys() == {"1.pt"}


def test_that_a_second_recorder_of_one_session_works_without_a_journal(small_session: Session) -> None:
    first = Recorder(small_session)
    second = Recorder(small_session)
    assert first.trouble == ""
    assert "another process holds" in second.trouble
    second.apply(measured(1))
    assert abandoned() == []
    first.close(discard=True)


def test_that_a_journal_writes_by_itself(tmp_path: Path) -> None:
    opened = SegmentOpened(uuid="u", title="t", path="", saves=0, complete=True)
    journal = Journal(opened, tmp_path)
    journal.append(measured(1))
    deadline = time.monotonic() + 20
    found: list[Any] = []
    while len(found) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
        found = [record for segment in segments(tmp_path) for record in records(segment)]
    assert found == [opened, measured(1)]
    journal.close(remove=True)
    assert segments(tmp_path) == []


KILLED = """
import sys
from landscope.contract import deltas as d
from landscope.session.model import Session
from landscope.session.recorder import Recorder
recorder = Recorder(Session(title="killed"))
for step in range(100):
    recorder.log("info", str(step))
recorder._journal.flush()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_that_a_killed_process_leaves_its_journal(data_folder: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
    )
    assert child.stdout is not None
    assert child.stdin is not None
    with child.stdout, child.stdin:
        assert child.stdout.readline() == b"ready\n"
        assert abandoned() == []
        child.send_signal(signal.SIGKILL)
        child.wait(10)
    (found,) = abandoned()
    assert found.title == "killed"
    assert [line.sentence for line in recover(found.folder).log] == [str(step) for step in range(100)]


def test_that_taking_an_event_costs_little(small_session: Session) -> None:
    recorder = Recorder(small_session)
    rows = np.arange(5)
    event = Event(
        "j", Partial(delta=d.PlanePoints(id="p", rows=rows, columns=rows, values={"loss": rows / 2}))
    )
    began = time.perf_counter()
    for _ in range(200):
        recorder.take(event)
    assert (time.perf_counter() - began) / 200 < 0.002
    recorder.close(discard=True)
