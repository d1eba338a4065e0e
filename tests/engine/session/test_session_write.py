"""Saving replaces a file whole or not at all, and other programs can read what is written."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landscope.contract import deltas as d
from landscope.contract.errors import SessionError
from landscope.session import atomic
from landscope.session.hdf5 import h5py
from landscope.session.model import Session
from landscope.session.read import read
from landscope.session.write import save

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions and links")


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_that_a_second_save_keeps_the_first_as_bak(small_session: Session, tmp_path: Path) -> None:
    path = tmp_path / "s.h5"
    save(small_session, path)
    small_session.title = "second"
    save(small_session, path)
    assert read(path).title == "second"
    assert read(path).saves == 2
    assert read(tmp_path / "s.h5.bak").title == "small"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    ("failing", "code", "reason"),
    [
        ("write_fully", errno.ENOSPC, "the disk is full"),
        ("sync", errno.EIO, "the disk reports an error"),
        ("write_fully", errno.EFBIG, "larger than allowed"),
        ("_keep_backup", errno.EROFS, "the disk is read-only"),
    ],
)
def test_that_a_failed_save_leaves_the_old_file_and_says_why(
    small_session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failing: str,
    code: int,
    reason: str,
) -> None:
    path = save(small_session, tmp_path / "s.h5")
    before = path.read_bytes()

    def fail(*_arguments: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(atomic, failing, fail)
    with pytest.raises(SessionError, match=reason) as failure:
        save(small_session, path)
    assert str(path) in failure.value.sentence
    assert path.read_bytes() == before
    assert small_session.saves == 1
    assert leftovers(tmp_path) == []


def test_that_short_writes_are_continued(
    small_session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, raw: real(descriptor, raw[:1000]))
    assert read(save(small_session, tmp_path / "s.h5")).title == "small"


def test_that_places_that_cannot_hold_a_file_are_told(small_session: Session, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="the folder does not exist"):
        save(small_session, tmp_path / "none" / "s.h5")
    with pytest.raises(SessionError, match="it is a folder"):
        save(small_session, tmp_path)


@posix
def test_that_links_are_followed_and_permissions_kept(small_session: Session, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    path = save(small_session, tmp_path / "real" / "s.h5")
    path.chmod(0o640)
    link = tmp_path / "link.h5"
    link.symlink_to(path)
    small_session.title = "through the link"
    assert save(small_session, link) == path
    assert link.is_symlink()
    assert read(link).title == "through the link"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_that_without_hard_links_the_backup_is_a_copy(
    small_session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(small_session, tmp_path / "s.h5")

    def refuse(*_arguments: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    save(small_session, path)
    assert read(tmp_path / "s.h5.bak").saves == 1


def test_that_drafts_of_killed_saves_are_swept_once_they_are_old(
    small_session: Session, tmp_path: Path
) -> None:
    for name, age in ((".s.h5.0123.tmp", 4000), (".s.h5.4567.tmp", 10), (".other.h5.89.tmp", 4000)):
        draft = tmp_path / name
        draft.write_bytes(b"half")
        os.utime(draft, (draft.stat().st_mtime - age,) * 2)
    save(small_session, tmp_path / "s.h5")
    assert leftovers(tmp_path) == [".other.h5.89.tmp", ".s.h5.4567.tmp"]


def test_that_a_plane_is_nexus_data_with_axes_units_and_flags(small_session: Session, tmp_path: Path) -> None:
    with h5py.File(save(small_session, tmp_path / "s.h5"), "r") as file:
        plane = file["planes/0000"]
        assert plane.attrs["NX_class"] == b"NXdata"
        assert plane.attrs["signal"] == b"loss"
        assert plane.attrs["axes"].tolist() == [b"alpha", b"beta"]
        assert plane["loss"].dtype == np.float64
        assert [plane["loss"].dims[k][0].name for k in range(2)] == [
            f"{plane.name}/{a}" for a in ("alpha", "beta")
        ]
        assert plane["loss"].attrs["units"] == b"1"
        assert plane["state"].attrs["flag_meanings"] == b"empty interpolated sampled failed"
        assert plane["title"][()] == b"plane"
        assert h5py.check_string_dtype(plane["title"].dtype).length is not None


def test_that_large_arrays_are_packed_and_checksummed_and_small_ones_are_not(
    small_session: Session, tmp_path: Path
) -> None:
    axis = np.linspace(-1, 1, 65)
    small_session.apply(
        d.LineOpened(
            id="l", run="net", title="", start="a", end="b", coordinates=np.linspace(0, 1, 2000), settings={}
        )
    )
    small_session.apply(d.LinePoints(id="l", indices=np.arange(65), values={"loss": axis}))
    with h5py.File(save(small_session, tmp_path / "s.h5"), "r") as file:
        large = file["lines/0000/loss"]
        assert (large.compression, large.compression_opts, large.shuffle, large.fletcher32) == (
            "gzip",
            4,
            True,
            True,
        )
        assert file["planes/0000/loss"].chunks is None
