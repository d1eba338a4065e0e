"""Formats that are not read: each told by its first bytes, members or name, with what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_CONVERT = "convert it to PyTorch and save the state_dict()"
_UNPACK = "unpack it first"
_FAILED = "the download failed"
_ANNEX = "git-annex pointer, not the file itself: run git annex get"

MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"version https://git-lfs", "Git LFS pointer, not the file itself: run git lfs pull"),
    (0, b"version https://hawser", "Git LFS pointer, not the file itself: run git lfs pull"),
    (0, b"/annex/objects/", _ANNEX),
    (0, b"../.git/annex/objects/", _ANNEX),
    (0, b"/ipfs/", "IPFS address, not the file itself: fetch it first"),
    (0, b"\x1f\x8b", f"gzip archive: {_UNPACK}"),
    (0, b"BZh", f"bzip2 archive: {_UNPACK}"),
    (0, b"\xfd7zXZ\x00", f"xz archive: {_UNPACK}"),
    (0, b"\x28\xb5\x2f\xfd", f"Zstandard archive: {_UNPACK}"),
    (0, b"\x04\x22\x4d\x18", f"LZ4 archive: {_UNPACK}"),
    (0, b"7z\xbc\xaf\x27\x1c", f"7-Zip archive: {_UNPACK}"),
    (0, b"Rar!\x1a\x07", f"RAR archive: {_UNPACK}"),
    (0, b"PK\x05\x06", "empty zip archive: the write failed"),
    (0, b"PK\x07\x08", "part of a split zip archive: join and unpack it first"),
    (0, b"PK00PK\x03\x04", "part of a split zip archive: join and unpack it first"),
    (0, b"\x89HDF\r\n\x1a\n", f"HDF5 file (Keras, TensorFlow or data), not a torch checkpoint: {_CONVERT}"),
    (0, b"GGUF", "GGUF file: save the state_dict() of the PyTorch model instead"),
    (0, b"ggml", "GGML file: save the state_dict() of the PyTorch model instead"),
    (0, b"lmgg", "GGML file: save the state_dict() of the PyTorch model instead"),
    (0, b"tjgg", "GGML file: save the state_dict() of the PyTorch model instead"),
    (4, b"TFL3", f"TensorFlow Lite model: {_CONVERT}"),
    (0, b"ftrt", "TensorRT engine: save the state_dict() of the PyTorch model instead"),
    (0, b"ptrt", "TensorRT engine: save the state_dict() of the PyTorch model instead"),
    (0, b"\x00\x05\x16\x07", "macOS resource fork, not a checkpoint"),
    (0, b"\x93NUMPY", "NumPy array, not a torch checkpoint: save tensors with torch.save"),
    (0, b"model_checkpoint_path:", f"TensorFlow's list of checkpoints: {_CONVERT}"),
    (0, b"\xd0\xcf\x11\xe0", "Windows thumbnail or office file, not a checkpoint"),
)
"""Offset, bytes, what the file is."""

_BY_NAME: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\.onnx$"), "ONNX file: save the state_dict() of the PyTorch model instead"),
    (re.compile(r"\.msgpack$"), f"Flax (JAX) weights: {_CONVERT}"),
    (
        re.compile(r"\.(mlmodel|mlpackage)$"),
        "Core ML model: save the state_dict() of the PyTorch model instead",
    ),
    (re.compile(r"\.(pdparams|pdopt|pdmodel|pdiparams)$"), f"Paddle file: {_CONVERT}"),
    (
        re.compile(r"\.(engine|plan|trt)$"),
        "TensorRT engine: save the state_dict() of the PyTorch model instead",
    ),
    (re.compile(r"\.(tflite)$"), f"TensorFlow Lite model: {_CONVERT}"),
    (re.compile(r"\.(data-\d{5}-of-\d{5}|index|pb|meta)$"), f"part of a TensorFlow checkpoint: {_CONVERT}"),
    (
        re.compile(r"\.joblib$"),
        "joblib pickle, not a torch file: load it and save the tensors with torch.save",
    ),
    (re.compile(r"\.dvc$"), "DVC pointer, not the file itself: run dvc pull"),
    (re.compile(r"\.distcp$"), "part of a distributed checkpoint whose .metadata is missing"),
)
_NAMED = re.compile("|".join(pattern.pattern for pattern, _ in _BY_NAME))
_SHARD = re.compile(r"[-_.](\d{3,6})-of-(\d{3,6})\.\w+$")
_PARTIAL = re.compile(r"\.(part|partial|crdownload|download|incomplete|tmp|temp|aria2|filepart|opdownload)$")
_PICKLE = re.compile(
    rb"(\x80[\x02-\x05]|\((dp?|lp?)\d|\(i[\w.]+\n|c[\w.]+\n[\w.]+\n|[\]}](q\x00|\.|\()|\x80\x01)"
)
_OLD_TORCH = (b"sys_info", b"pickle", b"storages", b"tensors")

USUAL_SUFFIXES = (
    *(".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".pth.tar", ".pt.tar", ".pkl", ".pickle", ".th"),
    *(".pt2", ".ptl", ".pyt", ".chkpt", ".checkpoint", ".index.json"),
)
"""Endings that tell that a file is a checkpoint."""

SUFFIXES = (
    *(*USUAL_SUFFIXES, ".tar", ".model", ".weights", ".params", ".mar", ".distcp", ".npz", ".npy"),
    *(".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip", ".7z", ".h5", ".hdf5", ".keras", ".gguf", ".ggml"),
    *(".onnx", ".tflite", ".msgpack", ".mlmodel", ".pdparams", ".pdopt", ".pdiparams", ".engine", ".plan"),
    *(".trt", ".joblib", ".dvc", ".pb", ".index", ".part", ".crdownload", ".download", ".incomplete", ".tmp"),
)
"""Endings of files that a problem is told about; others are passed over when they are no checkpoints."""


def partial_download(name: str) -> bool:
    """Whether the name says that a download or a write has not ended."""
    return bool(_PARTIAL.search(name.lower()))


def by_name(name: str) -> str:
    """What a file of that name is, empty when its name says nothing."""
    if not _NAMED.search(name.lower()):
        return ""
    return next(reason for pattern, reason in _BY_NAME if pattern.search(name.lower()))


def by_target(target: str) -> str:
    """What a link is that leads to such a path and finds nothing there, empty when the path says nothing."""
    return _ANNEX if "/annex/objects/" in target.replace("\\", "/") else ""


def only_a_part(name: str) -> str:
    """Why a file of that name is no whole checkpoint (``model-00001-of-00002.bin``), empty if it may be."""
    found = _SHARD.search(name)
    if found is None or int(found[2]) < 2:
        return ""
    return f"part {int(found[1])} of {int(found[2])} of a sharded checkpoint whose index.json is missing"


def by_content(path: Path, head: bytes) -> str:
    """What a file that starts with ``head`` is, empty when it may be a checkpoint."""
    for offset, magic, reason in MAGIC:
        if head.startswith(magic, offset):
            return reason
    if head[257:262] == b"ustar":
        old = head[:100].rstrip(b"\0") in _OLD_TORCH
        return f"{'archive of torch before 0.2' if old else 'tar archive'}: " + (
            "load it with an old torch and save it again" if old else _UNPACK
        )
    return _web_page(head) or (_plain_pickle(path, head) if _PICKLE.match(head) else "")


def _web_page(head: bytes) -> str:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    lower = text.lower()
    if lower.startswith((b"<!doctype html", b"<html", b"<head", b"<script")):
        return f"HTML page, not a checkpoint: {_FAILED}"
    if lower.startswith(b"<?xml") and b"<net " in lower:
        return f"OpenVINO model: {_CONVERT}"
    if lower.startswith((b"<?xml", b"<error")):
        code = re.search(rb"<code>(\w{1,40})</code>", text, re.IGNORECASE)
        named = f" ({code[1].decode()})" if code else ""
        return f"XML message of a server{named}, not a checkpoint: {_FAILED}"
    if re.match(rb'\{\s*"(error|errors|message|detail|code|status)"', lower):
        return f"JSON message of a server, not a checkpoint: {_FAILED}"
    return "DVC pointer, not the file itself: run dvc pull" if lower.startswith(b"outs:\n- md5:") else ""


def _plain_pickle(path: Path, head: bytes) -> str:
    if b"joblib" in head:
        return by_name("x.joblib")
    if path.suffix.lower() in SUFFIXES or head[:1] == b"\x80":
        return "plain pickle, not a torch file: load it and save its tensors with torch.save"
    return ""


def unknown(path: Path, head: bytes) -> str:
    """What a file that nobody recognised looks like."""
    if path.suffix.lower() == ".bin" and path.with_suffix(".xml").exists():
        return f"weights of an OpenVINO model: {_CONVERT}"
    if not any(head):
        return "only zero bytes: the write failed"
    if b"pytorch" in head[:32] or head[:2] == b"\x08\x08":
        return by_name("x.onnx")
    return "text, not a checkpoint" if _is_text(head) else "not a torch or safetensors file"


def _is_text(head: bytes) -> bool:
    try:
        head[:-3].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\x00" not in head


def why_not_torch(members: Iterable[str]) -> str:
    """What a zip archive with these members is, when it is no torch checkpoint; empty when it is one."""
    names = list(members)
    tails = {name.split("/", 1)[-1] for name in names}
    if {"constants.pkl", "attributes.pkl"} & tails or any("/code/" in f"/{name}" for name in names):
        return "TorchScript archive: load it with torch.jit.load and save its state_dict() instead"
    if any(name.startswith("models/") or "archive_format" in name for name in names):
        return "exported program (torch.export): save the state_dict() of the model instead"
    if "data.pkl" in tails:
        return ""
    return _other_archive(names, tails)


def _other_archive(names: list[str], tails: set[str]) -> str:
    if {"byteorder", "version"} <= tails or ".data/serialization_id" in tails:
        return "torch archive without its table (data.pkl): saving it failed"
    if any(name.startswith("MAR-INF/") for name in names):
        return f"TorchServe archive: {_UNPACK}"
    if any(name.endswith("model.weights.h5") for name in names):
        return f"Keras model: {_CONVERT}"
    if any(name.endswith(".npy") for name in names):
        return "NumPy archive (.npz), not a torch checkpoint: save tensors with torch.save"
    if any(name.lower().endswith((".pt", ".pth", ".ckpt", ".bin", ".safetensors")) for name in names):
        return f"zip archive with checkpoints in it: {_UNPACK}"
    return "zip archive without torch data"
