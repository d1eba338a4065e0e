"""Files that are no torch checkpoints are named for what they are, with what to do."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile

import numpy as np
import pytest
import torch

from landscope.checkpoints.discover import list_run
from landscope.checkpoints.files.header import read_header
from landscope.checkpoints.files.sniff import holds_no_weights, is_candidate
from landscope.contract.errors import CheckpointError


def torch_bytes():
    buffer = io.BytesIO()
    torch.save({"weight": torch.ones(2, 3), "bias": torch.ones(2)}, buffer)
    return buffer.getvalue()


def archive(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, content in members.items():
            made.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


def tar(name="weights.pt"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        info = tarfile.TarInfo(name)
        info.size = 4
        made.addfile(info, io.BytesIO(b"abcd"))
    return buffer.getvalue()


def npy():
    buffer = io.BytesIO()
    np.save(buffer, np.ones(3))
    return buffer.getvalue()


def encrypted():
    content = bytearray(archive(a__data_pkl=b"x").replace(b"data_pkl", b"data.pkl"))
    content[6] |= 1
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


S3 = b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>no</Message></Error>'
FORMATS = {
    "lfs.safetensors": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "annex.pt": (b"/annex/objects/SHA256E-s1--0.pt\n", "git annex get"),
    "weights.pt.dvc": (b"outs:\n- md5: 0\n  path: weights.pt\n", "dvc pull"),
    "address.pt": (b"/ipfs/Qm0", "IPFS"),
    "page.pt": (b"\n <!DOCTYPE html><html>", "HTML page"),
    "denied.pth": (S3, "XML message of a server (AccessDenied)"),
    "error.ckpt": (b'\xef\xbb\xbf{"error": "not found"}', "JSON message of a server"),
    "notes.pt": (b"just some words, and more of them", "text, not a checkpoint"),
    "zeros.pt": (bytes(4096), "only zero bytes"),
    "noise.bin": (bytes(range(128, 256)) * 4, "not a torch or safetensors file"),
    "packed.pt.gz": (gzip.compress(torch_bytes()), "gzip archive: unpack it first"),
    "renamed_targz.pth.tar": (gzip.compress(tar()), "gzip archive: unpack it first"),
    "packed.tar": (tar(), "tar archive: unpack it first"),
    "old.pt": (tar("sys_info"), "archive of torch before 0.2"),
    "packed.bz2": (bz2.compress(b"x" * 99), "bzip2 archive"),
    "packed.xz": (lzma.compress(b"x" * 99), "xz archive"),
    "packed.zst": (b"\x28\xb5\x2f\xfd" + bytes(20), "Zstandard archive"),
    "packed.7z": (b"7z\xbc\xaf\x27\x1c" + bytes(20), "7-Zip archive"),
    "packed.zip": (
        archive(run__model_pt=b"x").replace(b"model_pt", b"model.pt"),
        "checkpoints in it: unpack",
    ),
    "other.zip": (archive(readme=b"x"), "zip archive without torch data"),
    "nothing.zip": (b"PK\x05\x06" + bytes(18), "empty zip archive"),
    "split.pt": (b"PK\x07\x08" + archive(a=b"x"), "split zip"),
    "locked.pt": (encrypted(), "encrypted zip archive"),
    "script.pt": (archive(a__data_pkl=b"x", a__code__x=b"x", a__constants=b"x"), "TorchScript"),
    "model.keras": (archive(**{"config.json": b"{}", "model.weights.h5": b"x"}), "Keras model"),
    "model.mar": (archive(**{"MAR-INF__MANIFEST.json": b"{}"}), "TorchServe"),
    "arrays.npz": (archive(**{"w.npy": npy()}), "NumPy archive"),
    "array.npy": (npy(), "NumPy array"),
    "model.h5": (b"\x89HDF\r\n\x1a\n" + bytes(20), "HDF5 file"),
    "model.gguf": (b"GGUF" + bytes(20), "GGUF"),
    "model.onnx": (b"\x08\x07\x12\x07pytorch", "ONNX"),
    "model.tflite": (b"\x1c\x00\x00\x00TFL3" + bytes(20), "TensorFlow Lite"),
    "model.ckpt.index": (bytes(40), "part of a TensorFlow checkpoint"),
    "model.ckpt.data-00000-of-00001": (bytes(40), "part of a TensorFlow checkpoint"),
    "flax_model.msgpack": (b"\x81\xa6params", "Flax"),
    "model.mlmodel": (b"\x08\x04", "Core ML"),
    "model.engine": (b"ftrt" + bytes(20), "TensorRT"),
    "model.pdparams": (pickle.dumps({"w": 1}, 2), "Paddle"),
    "model.joblib": (pickle.dumps([1]), "joblib"),
    "disguised.pkl": (b"\x80\x04\x95\x00cjoblib.numpy_pickle", "joblib"),
    "__0_0.distcp": (torch_bytes(), "whose .metadata is missing"),
    "._weights.pt": (b"\x00\x05\x16\x07", "resource fork"),
    **{
        f"protocol{number}.pkl": (pickle.dumps({"w": np.ones(2)}, number), "plain pickle, not a torch file")
        for number in range(6)
    },
}


@pytest.mark.parametrize("name", FORMATS)
def test_that_a_foreign_file_is_named_for_what_it_is(tmp_path, name):
    content, says = FORMATS[name]
    (tmp_path / name).write_bytes(content)
    assert is_candidate(tmp_path / name)
    with pytest.raises(CheckpointError) as caught:
        read_header(tmp_path / name)
    assert says in caught.value.sentence and caught.value.sentence.startswith(f"{name}: ")


def test_that_weights_of_openvino_are_told_by_the_network_beside_them(tmp_path):
    (tmp_path / "net.bin").write_bytes(bytes(range(256)))
    (tmp_path / "net.xml").write_text('<?xml version="1.0"?><net name="a">')
    with pytest.raises(CheckpointError, match="OpenVINO"):
        read_header(tmp_path / "net.bin")


@pytest.mark.parametrize("ending", [".part", ".crdownload", ".tmp", ".incomplete"])
def test_that_an_unfinished_download_is_waited_for(tmp_path, ending):
    (tmp_path / f"model.pt{ending}").write_bytes(torch_bytes()[:300])
    (info,) = list_run(tmp_path).others
    assert info.state == "waiting" and "partial download" in info.reason


@pytest.mark.parametrize(
    "name", ["desktop.ini", "Thumbs.db", ".DS_Store", "log.txt", "metrics.csv", "config.json"]
)
def test_that_files_of_others_are_passed_over(tmp_path, name):
    assert not is_candidate(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("optimizer.pt", "optimizer state only"),
        ("rng_state_0.pth", "rng state only"),
        ("random_states_0.pkl", "random state only"),
        ("zero_pp_rank_0_mp_rank_00_optim_states.pt", "optimizer state only"),
        ("model-00001-of-00002.safetensors", "part 1 of 2"),
        ("model-00001-of-00001.safetensors", ""),
        ("model.pt", ""),
        ("optim.pt", "optim state only"),
        ("optimizer-120.pt", "optimizer state only"),
        ("scaler_states_rank0.pt", "scaler state only"),
        ("optimal.pt", ""),
        ("optimized_model.pt", ""),
        ("optimus_3.pth", ""),
        ("scalernet.pt", ""),
        ("schedulerless.pt", ""),
        ("random_init.pt", ""),
    ],
)
def test_that_names_of_files_without_whole_weights_are_known(name, says):
    assert holds_no_weights(name).startswith(says) and bool(holds_no_weights(name)) == bool(says)


@pytest.mark.parametrize("length", [640, 896, 1152, 1408, 0x8B1F, 0x800180])
def test_that_the_length_of_a_header_is_no_format(tmp_path, length):
    """Files whose first bytes, which count those of their header, are those of a pickle or a gzip archive."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode().ljust(length)
    for name in ("model.safetensors", "model.bin", "model"):
        (tmp_path / name).write_bytes(length.to_bytes(8, "little") + header + bytes(8))
        assert read_header(tmp_path / name).kind == "safetensors"


def safetensors(entries, size=8, extra=b""):
    header = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return len(header).to_bytes(8, "little") + header + bytes(size) + extra


def entry(dtype="F32", shape=(2,), begin=0, end=8):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (safetensors(b'{"a":%s,"a":%s}' % ((json.dumps(entry()).encode(),) * 2)), "a name is there twice"),
        (safetensors(b' {"a":1}'), "does not start with {"),
        (safetensors(b"[1]"), "damaged safetensors header"),
        (safetensors(b"{" + b'"a":{' * 3000), "damaged safetensors header"),
        (safetensors({"a": entry(shape=(1 << 40, 1 << 40))}), "another size than its bytes"),
        (safetensors({"a": entry(shape=(-2,))}), "damaged safetensors entry"),
        (safetensors({"a": entry(shape=(2.0,))}), "damaged safetensors entry"),
        (safetensors({"a": {**entry(), "data_offsets": [0]}}), "damaged safetensors entry"),
        (safetensors({"a": {**entry(), "dtype": ["F32"]}}), "damaged safetensors entry"),
        (safetensors({"a": entry(end=16, shape=(4,))}), "truncated"),
        (safetensors({"a": entry(begin=4, end=12)}), "overlap or leave gaps"),
        (safetensors({"a": entry()}, extra=b"hidden"), "belong to none"),
        (b"\xff" * 8 + b"{", "its header claims"),
    ],
)
def test_that_a_damaged_safetensors_file_is_refused(tmp_path, content, says):
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        read_header(tmp_path / "a.safetensors")
    assert says in caught.value.sentence


def test_that_zero_sized_tensors_and_metadata_are_fine(tmp_path):
    entries = {
        "__metadata__": {"step": "12"},
        "a": entry(),
        "b": entry(shape=(0, 3), begin=8),
        "c": entry(shape=(0,), end=0),
    }
    (tmp_path / "a.safetensors").write_bytes(safetensors(entries))
    (info,) = list_run(tmp_path).checkpoints
    assert info.step == 12


def test_that_a_safetensors_file_without_tensors_has_no_weights(tmp_path):
    (tmp_path / "a.safetensors").write_bytes(safetensors({"__metadata__": {"format": "pt"}}, size=0))
    (info,) = list_run(tmp_path).others
    assert info.reason == "no parameters found"


@pytest.mark.parametrize(("dtype", "bits"), [("F4", 4), ("F6_E2M3", 6), ("F6_E3M2", 6), ("F99", 8)])
def test_that_a_type_that_torch_does_not_have_is_told_at_the_tensor(tmp_path, dtype, bits):
    (tmp_path / "a.safetensors").write_bytes(safetensors({"a": entry(dtype, (8,), 0, bits)}, size=bits))
    (info,) = list_run(tmp_path).others
    assert info.reason.startswith("a has the type") and info.reason.endswith("save float weights")


INDEX = "model.safetensors.index.json"


@pytest.mark.parametrize(
    "name", ["sub/b.safetensors", "/etc/passwd", "..", ".", "", "a\\b", "C:b", "b\0", "b\n", INDEX]
)
def test_that_a_shard_is_a_plain_name_beside_its_index(tmp_path, name):
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": {"w": name}}))
    with pytest.raises(CheckpointError, match="outside its own folder"):
        read_header(tmp_path / INDEX)


def test_that_every_tensor_is_once_in_the_shard_that_the_index_names(tmp_path):
    one, two = (tmp_path / f"model-0000{n}-of-00002.safetensors" for n in (1, 2))
    one.write_bytes(safetensors({"a": entry()}))
    two.write_bytes(safetensors({"b": entry()}))
    for weights, says in (
        ({"a": one.name, "b": one.name, "c": two.name}, "first 'b'"),
        ({"a": one.name, "b": two.name}, ""),
    ):
        (tmp_path / INDEX).write_text("\ufeff" + json.dumps({"weight_map": weights}), encoding="utf-8")
        if says:
            with pytest.raises(CheckpointError, match=says):
                read_header(tmp_path / INDEX)
    assert set(read_header(tmp_path / INDEX).tree) == {"a", "b"}
    two.write_bytes(safetensors({"a": entry(), "b": entry(begin=8, end=16)}, size=16))
    with pytest.raises(CheckpointError, match="a is in two shards"):
        read_header(tmp_path / INDEX)


def test_that_shards_without_their_index_are_told_as_parts(tmp_path):
    (tmp_path / "model-00001-of-00002.safetensors").write_bytes(safetensors({"a": entry()}))
    (info,) = list_run(tmp_path).others
    assert "part 1 of 2" in info.reason


@pytest.mark.parametrize("content", ["", "[]", '{"weight_map": 3}', '{"weight_map": {"a": 1}}', "[" * 9999])
def test_that_a_damaged_index_is_one_sentence(tmp_path, content):
    (tmp_path / INDEX).write_text(content)
    with pytest.raises(CheckpointError, match=f"^{INDEX}: "):
        read_header(tmp_path / INDEX)


def test_that_two_members_of_one_name_are_refused(tmp_path):
    with zipfile.ZipFile(io.BytesIO(torch_bytes())) as old, zipfile.ZipFile(tmp_path / "a.pt", "w") as new:
        for info in old.infolist():
            new.writestr(info.filename, old.read(info))
        with pytest.warns(UserWarning, match="Duplicate"):
            new.writestr(old.namelist()[0], b"x")
    with pytest.raises(CheckpointError, match="two members"):
        read_header(tmp_path / "a.pt")
