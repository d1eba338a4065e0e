"""What a checkpoint file holds, before its tensors are read: values with ``TensorRecord`` leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landscope.checkpoints.files.archive import read_archive
from landscope.checkpoints.files.distributed import read_distributed
from landscope.checkpoints.files.legacy_file import read_legacy
from landscope.checkpoints.files.safetensors_file import read_safetensors
from landscope.checkpoints.files.shards import read_sharded
from landscope.checkpoints.files.sniff import Sniffed, sniff
from landscope.checkpoints.records import TruncatedError
from landscope.checkpoints.wording import some
from landscope.contract.errors import CheckpointError


@dataclass(frozen=True)
class Header:
    """A checkpoint file without its numbers.

    Attributes:
        path: the file. kind: zip, legacy, safetensors, index or distributed.
        tree: what was saved; tensors are ``TensorRecord``, unknown things ``Foreign``.
        refused: names of foreign things in the file, which were left alone.
        notes: sentences for the person. metadata: free texts of a safetensors file.
    """

    path: Path
    kind: str
    tree: Any
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and which foreign things were left alone."""
        if not self.refused:
            return self.notes
        return (*self.notes, f"left alone, not needed for the weights: {some(self.refused)}")


def read_header(path: Path, sniffed: Sniffed | None = None) -> Header:
    """Describe a checkpoint file.

    Raises:
        TruncatedError: empty or cut off. CheckpointError: not readable, with the reason.
    """
    try:
        sniffed = sniffed or sniff(path)
        if sniffed.kind == "truncated":
            raise TruncatedError(f"{path.name}: {sniffed.reason}")
        if sniffed.kind in ("unusable", "ignored"):
            raise CheckpointError(f"{path.name}: {sniffed.reason or 'not a checkpoint'}")
        return _READERS[sniffed.kind](path)
    except OSError as error:
        raise CheckpointError(f"{path.name}: cannot be read ({error.strerror or error})") from error


def _zip(path: Path) -> Header:
    return Header(path, "zip", *read_archive(path))


def _legacy(path: Path) -> Header:
    return Header(path, "legacy", *read_legacy(path), ("old file format (before torch 1.6)",))


def _safetensors(path: Path) -> Header:
    tree, metadata = read_safetensors(path)
    return Header(path, "safetensors", tree, metadata=metadata)


def _sharded(path: Path) -> Header:
    return Header(path, "index", *read_sharded(path, read_header))


def _distributed(path: Path) -> Header:
    return Header(path, "distributed", *read_distributed(path), ("distributed checkpoint",))


_READERS: dict[str, Callable[[Path], Header]] = {
    "zip": _zip,
    "legacy": _legacy,
    "safetensors": _safetensors,
    "index": _sharded,
    "distributed": _distributed,
}
