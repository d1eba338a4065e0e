"""What is written and read, or taken apart into deltas and applied again, is what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from landscope.contract.frames import decoder, encode
from landscope.session.deltas import as_deltas
from landscope.session.journal import Record
from landscope.session.model import FAILED, Session
from landscope.session.read import read
from landscope.session.snapshot import snapshot
from landscope.session.write import save

QUICK = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(data=st.data())
def test_that_any_session_written_and_read_is_equal(
    data: st.DataObject, any_session: Any, as_plain: Any, tmp_path_factory: Any
) -> None:
    session = data.draw(any_session)
    path = tmp_path_factory.mktemp("s") / "session.h5"
    save(session, path)
    assert as_plain(read(path)) == as_plain(session)


@QUICK
@given(data=st.data())
def test_that_deltas_through_frames_rebuild_all_results(
    data: st.DataObject, any_session: Any, as_plain: Any
) -> None:
    session = data.draw(any_session)
    again = Session()
    decode = decoder(Record).decode
    for delta in as_deltas(session):
        again.apply(decode(encode(delta)[4:]))
    again.adopt(session.remainder())
    assert as_plain(again) == as_plain(session)


def test_that_failed_points_stay_failed(small_session: Session, tmp_path: Path) -> None:
    small_session.planes["p"].state[0, 1] = FAILED
    save(small_session, tmp_path / "s.h5")
    assert read(tmp_path / "s.h5").planes["p"].state[0, 1] == FAILED


def test_that_a_snapshot_does_not_change_with_the_session(small_session: Session, as_plain: Any) -> None:
    before = snapshot(small_session)
    kept = as_plain(before)
    for delta in as_deltas(small_session):
        small_session.apply(delta)
    small_session.planes["p"].values["loss"][:] = 7
    small_session.view["camera"] = 1
    assert as_plain(before) == kept
    assert as_plain(small_session) != kept
