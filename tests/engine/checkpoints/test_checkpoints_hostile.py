"""Files made to cost memory, time or sense: each is one sentence, and nothing of it reaches the parent."""

import json
import zipfile

import pytest
import torch

from landscope.checkpoints.discover import list_file, list_files, list_run
from landscope.checkpoints.guarded import describe as describing
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.records import TruncatedError
from landscope.contract.errors import CheckpointError


def archive(pickled):
    def write(path):
        with zipfile.ZipFile(path, "w") as target:
            target.writestr("a/data.pkl", pickled)

    return write


def header(text):
    return lambda path: path.write_bytes(len(text).to_bytes(8, "little") + text + b"\0")


def index(content):
    return lambda path: path.write_bytes(content)


DIGITS = b"\x8b\x00\x00\x01\x00" + b"\x01" * 65536
MANY = json.dumps({"weight_map": {str(i): f"{i}.bin" for i in range(20_000)}}).encode()


@pytest.mark.parametrize(
    ("name", "write", "says"),
    [
        ("digits.pt", archive(b"\x80\x02}" + DIGITS + b"}K\x01K\x02ss."), "no parameters found"),
        (
            "surrogate.safetensors",
            header(b'{"\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'),
            "has names that are no text",
        ),
        (
            "empty.safetensors",
            header(
                json.dumps(
                    {"a": {"dtype": "F3", "shape": [0] + [2**61] * 9, "data_offsets": [0, 1]}}
                ).encode()
            ),
            "a has an impossible shape",
        ),
        ("digits.index.json", index(b'{"weight_map":' + b"9" * 9999 + b"}"), "is not valid JSON"),
        ("many.index.json", index(MANY), "names more than 10000 shards; refused"),
    ],
)
def test_that_odd_keys_and_numbers_are_one_sentence(tmp_path, name, write, says):
    write(tmp_path / name)
    assert list_file(tmp_path / name).others[0].reason.startswith(says)


def test_that_a_long_name_that_a_small_file_repeats_does_not_fill_memory(tmp_path):
    name = "w" * 1_000_000
    torch.save({f"table {i}": {name: torch.ones(2)} for i in range(300)}, tmp_path / "a.pt")
    assert (tmp_path / "a.pt").stat().st_size < 2_000_000
    assert list_file(tmp_path / "a.pt").others[0].reason == "no parameters found"


def test_that_what_is_told_of_a_file_is_short_and_moves_no_cursor(tmp_path):
    names = ["\x1b[2J\n\u202e" + "x" * 900 + str(number) for number in range(9)]
    torch.save({"model": {name: torch.ones((1,) * 60) for name in names}}, tmp_path / "a.pt")
    torch.save({"model": {name: torch.ones((2,) + (1,) * 60) for name in names}}, tmp_path / "b.pt")
    reference = Reference(dict.fromkeys(names, (3,) * 60))
    for info in (*list_run(tmp_path).others, *list_files(tmp_path, reference=reference).listed.others):
        assert info.reason.isprintable() and 20 < len(info.reason) <= 1001


def test_that_a_file_that_is_written_over_while_it_is_read_is_waited_for(tmp_path, monkeypatch):
    def overtake(path, *_how):
        path.write_bytes(b"new")
        raise CheckpointError("its bytes do not match their checksum")

    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt")
    monkeypatch.setattr(describing, "read_header", overtake)
    facts = describing.describe(tmp_path / "a.pt")
    assert (facts.state, facts.reason) == ("waiting", "still being written")


def test_that_a_file_that_vanishes_while_it_is_read_is_one_sentence(tmp_path, monkeypatch):
    def vanish(path, *_how):
        path.unlink()
        raise TruncatedError("cut off")

    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt")
    monkeypatch.setattr(describing, "read_header", vanish)
    assert describing.describe(tmp_path / "a.pt").reason == "cannot be read (No such file or directory)"
