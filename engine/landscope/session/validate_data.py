"""Which datasets and attributes of a foreign HDF5 file may be read at all.

Order matters: external storage and virtual layouts are seen in the creation properties, before anything
asks for the shape (asking opens the other files). Compressed chunks are inflated here first, with a bound,
because libhdf5's own filter has none.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

from landscope.session.hdf5 import h5py

_MAX_DATASET = 2 << 30
_MAX_CHUNK = 64 << 20
_MAX_TEXT = 64 << 20
_MAX_ATTRIBUTE = 1 << 20
_MAX_RANK = 6
_MAX_DIMENSION = 1 << 31
_MAX_TEXTS_ON_HEAP = 1_000_000
_MAX_UNSTORED = 1 << 20
_CHECKSUM_BYTES = 4
_FILTERS = (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32)
_LAYOUTS = (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS, h5py.h5d.CHUNKED)


class Refused(Exception):  # noqa: N818  an outcome; becomes a SessionError that names the file
    """What is not allowed, as the second half of a sentence."""


def check_dataset(dataset: Any, where: str) -> int:
    """Judge a dataset; returns the bytes it takes in memory."""
    plan = dataset.get_create_plist()
    _check_storage(plan, where)
    kind = dataset.get_type()
    _check_kind(kind, where)
    count = _count(dataset.get_space(), where)
    if kind.get_class() == h5py.h5t.STRING and kind.is_variable_str() and count > _MAX_TEXTS_ON_HEAP:
        raise Refused(f"{where} holds {count} texts")
    size = count * int(kind.get_size())
    if size > _MAX_DATASET:
        raise Refused(f"{where} claims {size} bytes")
    if plan.get_layout() == h5py.h5d.CHUNKED:
        _check_chunks(dataset, plan, kind.get_size(), where)
    if size > _MAX_UNSTORED and dataset.get_storage_size() == 0:
        raise Refused(f"{where} claims {size} bytes and stores none")
    return size


def check_attribute(attribute: Any, where: str) -> None:
    """Judge an attribute. References of dimension scales may exist; they are never followed."""
    kind = attribute.get_type()
    if not _is_scale_reference(kind):
        _check_kind(kind, where)
    if _count(attribute.get_space(), where) * kind.get_size() > _MAX_ATTRIBUTE:
        raise Refused(f"{where} is too large")


def _check_storage(plan: Any, where: str) -> None:
    if plan.get_layout() == h5py.h5d.VIRTUAL:
        raise Refused(f"{where} takes its data from other datasets")
    if plan.get_layout() not in _LAYOUTS:
        raise Refused(f"{where} has an unknown layout")
    if plan.get_external_count() > 0:
        raise Refused(f"{where} keeps its data in another file")


def _check_kind(kind: Any, where: str) -> None:
    """Numbers of usual sizes and texts; an opaque type tagged as a numpy object crashes h5py."""
    category, size = kind.get_class(), kind.get_size()
    if category == h5py.h5t.INTEGER and size in (1, 2, 4, 8):
        return
    if category == h5py.h5t.FLOAT and size in (2, 4, 8):
        return
    if category == h5py.h5t.STRING and (kind.is_variable_str() or size <= _MAX_TEXT):
        return
    raise Refused(f"{where} has a type that no session uses")


def _is_scale_reference(kind: Any) -> bool:
    """DIMENSION_LIST (rows of references) or REFERENCE_LIST (pairs of reference and dimension)."""
    category = kind.get_class()
    if category == h5py.h5t.VLEN:
        return bool(kind.get_super().get_class() == h5py.h5t.REFERENCE)
    if category != h5py.h5t.COMPOUND or kind.get_nmembers() != 2:
        return False
    parts = [kind.get_member_type(index).get_class() for index in range(2)]
    return parts == [h5py.h5t.REFERENCE, h5py.h5t.INTEGER]


def _count(space: Any, where: str) -> int:
    if space.get_simple_extent_type() == h5py.h5s.NULL:
        return 0
    if space.get_simple_extent_ndims() > _MAX_RANK:
        raise Refused(f"{where} has too many dimensions")
    shape = space.get_simple_extent_dims()
    if any(length >= _MAX_DIMENSION for length in shape):
        raise Refused(f"{where} claims the shape {shape}")
    return math.prod(shape)


def _check_chunks(dataset: Any, plan: Any, item: int, where: str) -> None:
    size = math.prod(plan.get_chunk()) * item
    if size > _MAX_CHUNK:
        raise Refused(f"{where} is stored in chunks of {size} bytes")
    filters = [plan.get_filter(index)[0] for index in range(plan.get_nfilters())]
    if len(set(filters)) != len(filters) or not set(filters) <= set(_FILTERS):
        raise Refused(f"{where} is packed in a way that no session uses")
    for index in range(dataset.get_num_chunks() if filters else 0):
        _check_chunk(dataset, dataset.get_chunk_info(index), filters, size, where)


def _check_chunk(dataset: Any, chunk: Any, filters: list[int], size: int, where: str) -> None:
    """One stored chunk: a checksum longer than it crashes libhdf5 2.0, an endless one fills the memory."""
    checksummed = h5py.h5z.FILTER_FLETCHER32 in filters
    if checksummed and chunk.size <= _CHECKSUM_BYTES:
        raise Refused(f"{where} holds a chunk that is too short")
    if chunk.size > size * 1.1 + 4096:
        raise Refused(f"{where} holds a chunk that is too long")
    if h5py.h5z.FILTER_DEFLATE not in filters:
        return
    place = filters.index(h5py.h5z.FILTER_DEFLATE)
    if chunk.filter_mask & (1 << place):
        return
    raw = dataset.read_direct_chunk(chunk.chunk_offset)[1]
    if checksummed and filters.index(h5py.h5z.FILTER_FLETCHER32) > place:
        raw = raw[:-_CHECKSUM_BYTES]
    _check_inflated(raw, size, where)


def _check_inflated(raw: bytes, size: int, where: str) -> None:
    engine = zlib.decompressobj()
    try:
        got = engine.decompress(raw, size + 2 * _CHECKSUM_BYTES)
    except zlib.error:
        raise Refused(f"{where} holds a chunk that cannot be unpacked") from None
    if len(got) > size + _CHECKSUM_BYTES or engine.unconsumed_tail:
        raise Refused(f"{where} holds a chunk that unpacks to more than it claims")
