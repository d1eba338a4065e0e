"""Reading files: every format gives torch's own numbers, and nothing in a file is ever run."""

import argparse
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from landscope.checkpoints.files.header import read_header
from landscope.checkpoints.files.mappings import find_mappings
from landscope.checkpoints.files.progress import find_progress
from landscope.checkpoints.read import load_tensors
from landscope.contract.errors import CheckpointError


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4, 3))


def loaded(path):
    return load_tensors(find_mappings(read_header(path))[0].tensors)


def assert_same(found, expected):
    assert set(found) == set(expected)
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype and torch.equal(found[name], tensor), name


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_that_torch_files_are_read_bit_for_bit(tmp_path, new):
    state = net().state_dict()
    torch.save(state, tmp_path / "a.pt", _use_new_zipfile_serialization=new)
    assert_same(loaded(tmp_path / "a.pt"), state)


def test_that_safetensors_files_are_read_bit_for_bit(tmp_path):
    state = {**net().state_dict(), "half": torch.randn(3, 2).bfloat16(), "flag": torch.tensor([True, False])}
    save_file(state, tmp_path / "a.safetensors")
    assert_same(loaded(tmp_path / "a.safetensors"), state)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.bfloat16, torch.float16, torch.complex64, torch.int32, torch.float8_e4m3fn]
)
def test_that_every_dtype_is_read_as_it_was_saved(tmp_path, dtype):
    tensor = torch.arange(6).reshape(2, 3).to(dtype)
    torch.save({"a": tensor, "b": tensor}, tmp_path / "a.pt")
    found = loaded(tmp_path / "a.pt")["a"]
    assert found.dtype == dtype and torch.equal(found.view(torch.uint8), tensor.view(torch.uint8))


def test_that_transposed_views_and_ties_are_kept(tmp_path):
    base = torch.randn(4, 6)
    torch.save({"t": base.T, "tied": base, "part": base[1:3, ::2]}, tmp_path / "a.pt")
    found = loaded(tmp_path / "a.pt")
    assert torch.equal(found["t"], base.T) and torch.equal(found["part"], base[1:3, ::2])
    assert found["t"].untyped_storage().data_ptr() == found["tied"].untyped_storage().data_ptr()


def test_that_a_small_view_does_not_carry_its_big_storage_along(tmp_path):
    torch.save({"a": torch.zeros(100_000)[:4], "b": torch.ones(2)}, tmp_path / "a.pt")
    assert loaded(tmp_path / "a.pt")["a"].untyped_storage().nbytes() == 16


def test_that_shards_are_read_together_and_a_missing_one_is_named(tmp_path):
    state = net().state_dict()
    names = list(state)
    save_file({n: state[n] for n in names[:4]}, tmp_path / "m-1.safetensors")
    save_file({n: state[n] for n in names[4:]}, tmp_path / "m-2.safetensors")
    shards = {n: f"m-{1 + (k >= 4)}.safetensors" for k, n in enumerate(names)}
    index = tmp_path / "m.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": shards}))
    assert_same(loaded(index), state)
    (tmp_path / "m-2.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"m-2\.safetensors.*missing"):
        read_header(index)


def test_that_a_shard_outside_the_folder_is_refused(tmp_path):
    index = tmp_path / "m.safetensors.index.json"
    index.write_text('{"weight_map": {"w": "../secret.safetensors"}}')
    with pytest.raises(CheckpointError, match="outside its own folder"):
        read_header(index)


def test_that_step_and_epoch_come_from_the_file(tmp_path):
    torch.save({"global_step": np.int64(40), "epoch": 4, "model": net().state_dict()}, tmp_path / "a.pt")
    assert find_progress(read_header(tmp_path / "a.pt")) == (40, 4)


class Payload:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_that_code_in_a_file_is_never_run(tmp_path, new):
    state = net().state_dict()
    marker = tmp_path / "was_run"
    torch.save(
        {"evil": Payload(marker), "model": state}, tmp_path / "a.pt", _use_new_zipfile_serialization=new
    )
    assert_same(loaded(tmp_path / "a.pt"), state)
    assert not marker.exists()
    assert any("mkdir" in name for name in read_header(tmp_path / "a.pt").refused)


def test_that_foreign_things_are_left_alone_and_named(tmp_path):
    extras = {"args": argparse.Namespace(lr=0.1), "path": pathlib.Path("x"), "best": np.float64(0.5)}
    torch.save({**extras, "model": net().state_dict()}, tmp_path / "a.pt")
    header = read_header(tmp_path / "a.pt")
    assert header.refused == ("argparse.Namespace",)
    assert header.tree["best"] == 0.5 and header.tree["path"] == "x"


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_that_a_pickled_model_is_read_without_its_class(tmp_path, new):
    model = net()
    torch.save(model, tmp_path / "a.pt", _use_new_zipfile_serialization=new)
    assert_same(loaded(tmp_path / "a.pt"), model.state_dict())


def test_that_numpy_weights_are_refused_with_advice(tmp_path):
    torch.save({"payload": {"w": np.arange(6.0).reshape(2, 3), "b": np.ones(2)}}, tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match="is a NumPy array, no tensor; convert it"):
        loaded(tmp_path / "a.pt")


@pytest.mark.filterwarnings("ignore:torch.quantize")
@pytest.mark.parametrize("per_channel", [False, True])
def test_that_quantised_tensors_are_read_as_what_they_stand_for(tmp_path, per_channel):
    plain = torch.randn(3, 4)
    if per_channel:
        scales, zeros = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2])
        tensor = torch.quantize_per_channel(plain, scales, zeros, 0, torch.qint8)
    else:
        tensor = torch.quantize_per_tensor(plain, 0.1, 3, torch.quint8)
    torch.save({"w": tensor}, tmp_path / "a.pt")
    torch.testing.assert_close(loaded(tmp_path / "a.pt")["w"], tensor.dequantize())


def damage_weights(path):
    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if n.endswith("data/0"))
        begin = archive.getinfo(name).header_offset
    raw = bytearray(path.read_bytes())
    payload = torch.load(path, weights_only=True)["0.weight"].numpy().tobytes()
    raw[raw.index(payload, begin)] ^= 1
    path.write_bytes(raw)


def test_that_a_flipped_bit_is_found(tmp_path):
    path = tmp_path / "a.pt"
    torch.save(net().state_dict(), path)
    damage_weights(path)
    torch.load(path, weights_only=True)  # torch itself does not notice
    with pytest.raises(CheckpointError, match="checksum"):
        loaded(path)


def test_that_compressed_members_are_refused(tmp_path):
    torch.save(net().state_dict(), tmp_path / "a.pt")
    with (
        zipfile.ZipFile(tmp_path / "a.pt") as old,
        zipfile.ZipFile(tmp_path / "b.pt", "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for info in old.infolist():
            new.writestr(info.filename, old.read(info))
    with pytest.raises(CheckpointError, match="compressed"):
        read_header(tmp_path / "b.pt")


def test_that_a_tensor_that_would_grow_is_refused(tmp_path):
    torch.save({"w": torch.zeros(1).expand(1 << 40), "b": torch.zeros(2)}, tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match="claims more data"):
        loaded(tmp_path / "a.pt")


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64, torch.uint8])
def test_that_files_of_big_endian_machines_are_read(tmp_path, dtype):
    tensor = torch.arange(6).reshape(2, 3).to(dtype)
    torch.save({"w": tensor}, tmp_path / "little.pt")
    order = tensor.numpy().astype(tensor.numpy().dtype.newbyteorder(">")).tobytes()
    with (
        zipfile.ZipFile(tmp_path / "little.pt") as little,
        zipfile.ZipFile(tmp_path / "big.pt", "w") as big,
    ):
        for name in little.namelist():
            changed = {"data/0": order, "byteorder": b"big"}
            big.writestr(name, changed.get(name.partition("/")[2], little.read(name)))
    assert torch.equal(loaded(tmp_path / "big.pt")["w"], tensor)


def test_that_overlapping_safetensors_are_refused(tmp_path):
    entry = '{"dtype":"F32","shape":[2],"data_offsets":[%d,%d]}'
    header = f'{{"a":{entry % (0, 8)},"b":{entry % (4, 12)}}}'.encode()
    (tmp_path / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(12))
    with pytest.raises(CheckpointError, match="overlap"):
        read_header(tmp_path / "a.safetensors")


@pytest.mark.parametrize("kind", ["zip", "legacy", "safetensors"])
def test_that_damaged_files_are_refused_and_never_crash(tmp_path, kind):
    source, target = tmp_path / "source", tmp_path / "a.pt"
    if kind == "safetensors":
        save_file(net().state_dict(), source)
    else:
        torch.save(
            {"model": net().state_dict(), "a": 1}, source, _use_new_zipfile_serialization=kind == "zip"
        )
    raw = source.read_bytes()
    generator = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        damaged = bytearray(raw)
        for place in generator.integers(0, min(len(raw), 3000), 3):
            damaged[place] = generator.integers(32, 127)
        target.write_bytes(damaged)
        try:
            for candidate in find_mappings(read_header(target)):
                load_tensors(candidate.tensors)
        except CheckpointError:
            refused += 1
    assert refused > 10


def test_that_describing_files_needs_no_torch(tmp_path):
    torch.save(net().state_dict(), tmp_path / "a.pt")
    code = (
        "import sys; from landscope.checkpoints.discover import list_run; "
        f"assert len(list_run({str(tmp_path)!r}).checkpoints) == 1; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_that_a_plain_pickle_is_named_for_what_it_is(tmp_path):
    (tmp_path / "a.pkl").write_bytes(pickle.dumps({"w": [1, 2]}))
    with pytest.raises(CheckpointError, match="plain pickle"):
        read_header(tmp_path / "a.pkl")


def test_that_a_torchscript_archive_is_named_for_what_it_is(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("a/data.pkl", "a/constants.pkl", "a/code/__torch__.py"):
            archive.writestr(name, b"x")
    (tmp_path / "a.pt").write_bytes(buffer.getvalue())
    with pytest.raises(CheckpointError, match="TorchScript"):
        read_header(tmp_path / "a.pt")
