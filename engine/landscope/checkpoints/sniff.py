"""What a file is, from its name and first bytes; nothing is loaded, torch is not needed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["zip", "legacy", "safetensors", "index", "unusable", "truncated", "ignored"]

SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".tar", ".pkl", ".pickle", ".th", ".pt2", ".gz")
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C.to_bytes(10, "little")
_NOT_WEIGHTS = ("optimizer", "scheduler", "rng_state", "training_args", "scaler", "optim")
_HEAD = 512


@dataclass(frozen=True)
class Sniffed:
    """The kind of a file and, where it cannot be used, the reason in one sentence."""

    kind: Kind
    reason: str = ""


def is_candidate(path: Path) -> bool:
    """Whether the name looks like a checkpoint's, so that a problem with it is worth telling."""
    name = path.name.lower()
    if name.startswith(".") and not name.startswith("._"):
        return False
    if name.endswith(".index.json"):
        return True
    return name.endswith(SUFFIXES) or path.suffix == ""


def sniff(path: Path) -> Sniffed:
    """Name the kind of a file.

    Raises:
        OSError: the file cannot be opened.
    """
    name = path.name.lower()
    if name.startswith("._"):
        return Sniffed("unusable", "macOS resource fork, not a checkpoint")
    if name.endswith(".index.json"):
        return Sniffed("index")
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        return Sniffed("truncated", "empty file: still being written?")
    if head[:4] == b"PK\x03\x04":
        return Sniffed("zip")  # what kind of archive is told by its members, when it is opened
    return _sniff_head(path, head)


def why_not_torch(members: Iterable[str]) -> str:
    """What a zip archive with these members is, when it is no torch checkpoint; empty when it is one."""
    names = list(members)
    tails = {name.split("/", 1)[-1] for name in names}
    if "constants.pkl" in tails or any("/code/" in f"/{name}" for name in names):
        return "TorchScript archive: save its state_dict() instead"
    if "data.pkl" in tails:
        return ""
    if any(name.startswith("models/") or "archive_format" in name for name in names):
        return "exported program (torch.export): save the state_dict() of the model instead"
    if any(name.endswith(".npy") for name in names):
        return "NumPy archive (.npz), not a torch checkpoint"
    return "zip archive without torch data"


_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "Git LFS pointer, not the file itself: run git lfs pull"),
    (b"\x1f\x8b", "gzip archive: unpack it first"),
    (b"\x89HDF", "HDF5 file, not a torch checkpoint"),
    (b"GGUF", "GGUF file: save the PyTorch state_dict() instead"),
    (b"\x00\x05\x16\x07", "macOS resource fork, not a checkpoint"),
    (b"\x93NUMPY", "NumPy array, not a torch checkpoint"),
)


def _sniff_head(path: Path, head: bytes) -> Sniffed:
    for magic, reason in _MAGIC:
        if head.startswith(magic):
            return Sniffed("unusable", reason)
    if head[257:262] == b"ustar":
        return Sniffed(
            "unusable", "tar archive (very old torch or a packed file): load and save it again with torch"
        )
    if LEGACY_MAGIC in head[:32]:
        return Sniffed("legacy")
    if _is_safetensors(path, head):
        return Sniffed("safetensors")
    return _sniff_other(path, head)


def _is_safetensors(path: Path, head: bytes) -> bool:
    if len(head) < 9 or head[8:9] != b"{":
        return path.name.lower().endswith(".safetensors")
    return True


def _sniff_other(path: Path, head: bytes) -> Sniffed:
    text = head.lstrip().lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml")):
        return Sniffed("unusable", "HTML page, not a checkpoint: the download failed")
    if path.name.lower().endswith(".onnx") or head[:2] == b"\x08\x08" or b"pytorch" in head[:32]:
        return Sniffed("unusable", "ONNX file: save the PyTorch state_dict() instead")
    if head[:1] == b"\x80" and path.name.lower().endswith(SUFFIXES):
        return Sniffed(
            "unusable", "plain pickle, not a torch file: load it and save it again with torch.save"
        )
    if not path.name.lower().endswith(SUFFIXES):
        return Sniffed("ignored")
    if not any(head):
        return Sniffed("unusable", "only zero bytes: the write failed")
    if _is_text(head):
        return Sniffed("unusable", "text, not a checkpoint")
    return Sniffed("unusable", "not a torch or safetensors file")


def _is_text(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\x00" not in head


def holds_no_weights(name: str) -> str:
    """Why a file of that name is never a set of weights (``optimizer.pt``), empty if it may be one."""
    stem = name.lower().split(".")[0]
    found = next((word for word in _NOT_WEIGHTS if stem.startswith(word)), "")
    return f"{found.replace('_', ' ')} state only, no weights" if found else ""


def read_index(path: Path) -> dict[str, str]:
    """``weight_map`` of a sharded checkpoint: tensor name to shard file.

    Raises:
        ValueError: not such a file; one clause.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"is not valid JSON ({error})") from error
    shards = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(shards, dict) or not all(isinstance(v, str) for v in shards.values()):
        raise ValueError("has no weight_map")
    return shards
