"""What a file is, from its name and first bytes; nothing is loaded, torch is not needed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from landscope.checkpoints.files.formats import (
    SUFFIXES,
    USUAL_SUFFIXES,
    by_content,
    by_name,
    only_a_part,
    partial_download,
    unknown,
)

Kind = Literal["zip", "legacy", "safetensors", "index", "distributed", "unusable", "truncated", "ignored"]

DISTRIBUTED = ".metadata"
"""The file that makes a folder a checkpoint of torch.distributed.checkpoint."""
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C.to_bytes(10, "little")
_NOT_WEIGHTS = re.compile(
    r"(optim(?:izer)?|scheduler|rng(?=_states?)|random(?=_states)|training_args|scaler)s?(?:_states?)?(?![a-z])"
)
_UNSURE_SUFFIXES = (".bin", ".pkl", ".pickle", ".tar", ".model", ".weights", ".params")
"""Endings of data and of other programs' files as well."""
_HEAD = 512
LONGEST_HEADER = 100 << 20
"""Most bytes of the header of a safetensors file."""
_MAX_INDEX = 64 << 20
_MOST_SHARDS = 10_000


@dataclass(frozen=True)
class Sniffed:
    """The kind of a file and, where it cannot be used, the reason in one sentence."""

    kind: Kind
    reason: str = ""


def is_candidate(path: Path) -> bool:
    """Whether the name looks like a checkpoint's, so that a problem with it is worth telling."""
    name = path.name.lower()
    if name.startswith(".") and not name.startswith("._"):
        return name == DISTRIBUTED
    if name.endswith(".index.json"):
        return True
    if name.endswith(".distcp"):
        return not path.with_name(DISTRIBUTED).exists()
    return name.endswith(SUFFIXES) or path.suffix == "" or bool(by_name(name))


def is_likely(path: Path) -> bool:
    """Whether a folder with this file is one of checkpoints: by its ending, or its bytes if that says little.

    Raises:
        OSError: the file cannot be opened.
    """
    if path.name == DISTRIBUTED:
        return True
    name = path.name.lower()
    if path.suffix == "" or (name.endswith(_UNSURE_SUFFIXES) and not name.endswith((".pth.tar", ".pt.tar"))):
        return sniff(path).kind in ("zip", "legacy", "safetensors")
    return name.endswith(USUAL_SUFFIXES)


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
    if name == DISTRIBUTED:
        return Sniffed("distributed")
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if partial_download(name):
        return Sniffed("truncated", "partial download: not finished yet")
    if not head:
        return Sniffed("truncated", "empty file: still being written?")
    return _sniff_head(path, head)


def _sniff_head(path: Path, head: bytes) -> Sniffed:
    if _starts_with_header(head):  # first: the length of a header may look like the first bytes of a pickle
        return Sniffed("safetensors")
    if head[:4] == b"PK\x03\x04" and not path.name.lower().endswith(".distcp"):
        return Sniffed("zip")  # what kind of archive is told by its members, when it is opened
    if LEGACY_MAGIC in head[:32]:
        return Sniffed("legacy")
    reason = by_name(path.name) or by_content(path, head)
    if reason:
        return Sniffed("unusable", reason)
    if path.name.lower().endswith(".safetensors"):
        return Sniffed("safetensors")
    if not path.name.lower().endswith(SUFFIXES):
        return Sniffed("ignored")
    return Sniffed("unusable", unknown(path, head))


def _starts_with_header(head: bytes) -> bool:
    return head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= LONGEST_HEADER


def holds_no_weights(name: str) -> str:
    """Why a file of that name is never a set of weights (``optimizer.pt``), empty if it may be one."""
    stem = name.lower().split(".")[0]
    if stem.endswith("optim_states"):
        return "optimizer state only, no weights"
    found = _NOT_WEIGHTS.match(stem)
    return f"{found[1].replace('_', ' ')} state only, no weights" if found else only_a_part(name)


def read_index(path: Path) -> dict[str, str]:
    """``weight_map`` of a sharded checkpoint: tensor name to shard file.

    Raises:
        ValueError: not such a file; one clause.
    """
    if path.stat().st_size > _MAX_INDEX:
        raise ValueError("is too large for an index")
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not valid JSON ({error})") from error
    shards = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(shards, dict) or not all(isinstance(v, str) for v in shards.values()):
        raise ValueError("has no weight_map")
    if len(set(shards.values())) > _MOST_SHARDS:
        raise ValueError(f"names more than {_MOST_SHARDS} shards; refused")
    return shards
