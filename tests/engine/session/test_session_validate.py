"""Files that nobody honest made are refused in one sentence, before anything in them is read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from landscope.contract.errors import SessionError
from landscope.session.hdf5 import h5py
from landscope.session.model import Session
from landscope.session.read import read
from landscope.session.validate import validated
from landscope.session.write import save

HOSTILE = Path(__file__).parents[2] / "data" / "hostile"
REFUSED = {
    "01_external_link_abs": "link to another file",
    "03_external_link_unc": "link to another file",
    "04_external_link_fifo_dev": "link to another file",
    "05_external_storage_read": "in another file",
    "06_external_storage_passwd": "in another file",
    "07_vds_other_file": "from other datasets",
    "09_vds_self_recursive": "from other datasets",
    "11_soft_link_cycle": "soft link",
    "12_hard_link_cycle": "second name",
    "13_extlink_cycle": "link to another file",
    "14_huge_shape_chunked": "claims the shape",
    "15_huge_shape_contig": "claims 8796093022208 bytes",
    "16_huge_chunk": "claims 4294967288 bytes",
    "17_huge_fixed_string": "type that no session uses",
    "18_gzip_bomb_chunk_1KiB_to_64MiB": "chunk that is too long",
    "21_corrupt_gzip_chunk": "cannot be unpacked",
    "22_opaque_numpy_object": "type that no session uses",
    "23_opaque_pickle": "type that no session uses",
    "25_vlen_numeric": "type that no session uses",
    "26_object_region_refs": "type that no session uses",
    "27_compound_1000_fields": "type that no session uses",
    "28_array_dtype_bomb": "type that no session uses",
    "30_deep_groups_800": "nested deeper",
    "31_3000_hardlinks": "second name",
    "32_unknown_filter_65000": "packed in a way",
    "33_blosc_filter_32001": "packed in a way",
    "34_userblock_polyglot": "is not an HDF5 file",
    "35_evil_names": "is not allowed",
    "37_big_vlen_string_attr": "not a session of Landscope",
    "38_wrong_schema_types": "not a session of Landscope",
    "39_schema_version_future": "not a session of Landscope",
    "40_rank32": "too many dimensions",
    "41_zero_sized": "claims the shape",
    "42_enum_1000": "type that no session uses",
    "43_user_defined_link": "unknown kind",
    "44_empty": "is empty",
    "45_not_hdf5": "is not an HDF5 file",
    "46_signature_only": "is damaged",
    "47_truncated": "is damaged",
    "50_null_and_scalar": "not a session of Landscope",
    "51_bad_object_ref": "type that no session uses",
    "52_dimscale_ref_cycle": "type that no session uses",
    "55_fletcher32_short_chunk": "chunk that is too short",
}


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_that_a_hostile_file_is_refused_with_its_reason(name: str, reason: str) -> None:
    path = HOSTILE / f"{name}.h5"
    with pytest.raises(SessionError) as refusal:
        read(path)
    assert reason in refusal.value.sentence
    assert refusal.value.sentence.startswith(str(path))
    assert "\n" not in refusal.value.sentence


def test_that_a_harmless_foreign_file_passes_the_validator_but_is_no_session() -> None:
    path = HOSTILE / "00_benign_session.h5"
    with validated(path) as file:
        assert file["planes/p0"].shape == (3, 21, 21)
    with pytest.raises(SessionError, match="not a session of Landscope"):
        read(path)


def test_that_a_missing_file_a_folder_and_a_pipe_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot be read"):
        read(tmp_path / "none.h5")
    with pytest.raises(SessionError, match="is not a file"):
        read(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.h5")
        with pytest.raises(SessionError, match="is not a file"):
            read(tmp_path / "pipe.h5")


def test_that_a_session_of_a_newer_version_says_so(small_session: Session, tmp_path: Path) -> None:
    path = save(small_session, tmp_path / "s.h5")
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = np.int64(999)
    with pytest.raises(SessionError, match=r"newer Landscope \(format 999"):
        read(path)


DAMAGED = """
import sys
from pathlib import Path
import numpy as np
from landscope.contract.errors import SessionError
from landscope.session.read import read
whole = Path(sys.argv[1]).read_bytes()
path = Path(sys.argv[1] + ".damaged")
random = np.random.default_rng(0)
refused = 0
for _ in range(30):
    damaged = bytearray(whole)
    for place in random.integers(8, len(whole), 3):
        damaged[place] ^= 1 << int(random.integers(8))
    path.write_bytes(damaged)
    try:
        read(path)
    except SessionError:
        refused += 1
print(refused)
"""


def test_that_damage_raises_nothing_but_session_errors(small_session: Session, tmp_path: Path) -> None:
    """In a process of its own, as the program does it: libhdf5 may crash on what no validator sees."""
    small_session.uuid, small_session.created = "u" * 36, "2020-01-01T00:00:00+00:00"
    path = save(small_session, tmp_path / "s.h5")
    found = subprocess.run(
        [sys.executable, "-c", DAMAGED, str(path)], capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) > 0


@pytest.mark.parametrize("lost", ["planes/0000/loss", "planes/0000/alpha", "checkpoints/0000/files", "uuid"])
def test_that_a_missing_part_is_named(small_session: Session, tmp_path: Path, lost: str) -> None:
    path = save(small_session, tmp_path / "s.h5")
    with h5py.File(path, "r+") as file:
        del file[lost]
    with pytest.raises(SessionError, match=f"/{lost} is missing"):
        read(path)


def test_that_an_array_of_the_wrong_shape_is_refused(small_session: Session, tmp_path: Path) -> None:
    path = save(small_session, tmp_path / "s.h5")
    with h5py.File(path, "r+") as file:
        del file["planes/0000/loss"]
        file["planes/0000/loss"] = np.zeros((5, 6))
    with pytest.raises(SessionError, match=r"has the shape \(5, 6\)"):
        read(path)
