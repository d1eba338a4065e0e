"""Commands and events as bytes: a four-byte little-endian length, then MessagePack. Never pickle.

Arrays travel as (dtype, shape, raw bytes).
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

import msgspec
import numpy as np

from landscope.contract.errors import ProtocolError

MAX_FRAME = 1 << 30
_LENGTH = struct.Struct("<I")
_KINDS = "biuf"


def _from_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        return [array.dtype.str, list(value.shape), array.tobytes()]
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot travel in a frame")


def _to_array(kind: Any, value: Any) -> Any:
    if kind is not np.ndarray and getattr(kind, "__origin__", None) is not np.ndarray:
        raise TypeError(f"{kind} cannot be read from a frame")
    dtype_name, shape, raw = value
    dtype = np.dtype(dtype_name)
    if dtype.kind not in _KINDS or dtype.hasobject:
        raise ValueError(f"arrays of type {dtype_name} are not accepted")
    return np.frombuffer(raw, dtype).reshape(shape).copy()


_encoder = msgspec.msgpack.Encoder(enc_hook=_from_array)


def encode(message: Any) -> bytes:
    """One struct as a frame, length included.

    Text that is no UTF-8 (what a script prints about odd file names) travels with escapes in it.
    """
    try:
        body = _encoder.encode(message)
    except UnicodeEncodeError:
        body = _encoder.encode(_escaped(message))
    return _LENGTH.pack(len(body)) + body


def escaped(text: str) -> str:
    """The text with escapes (``\\udcff``) for what UTF-8 cannot hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: _escaped(part) for name, part in msgspec.structs.asdict(value).items()})
    if isinstance(value, dict):
        return {_escaped(key): _escaped(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_escaped(part) for part in value])
    return value


def decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    """A decoder for the bodies of frames of one kind (``Event`` or ``AnyCommand``)."""
    return msgspec.msgpack.Decoder(kind, dec_hook=_to_array)


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame's body, or None at the end of the stream.

    Raises:
        ProtocolError: the frame claims to be larger than 1 GiB or the stream ends inside it.
    """
    head = _read_exactly(stream, _LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size:
        raise ProtocolError("The stream from the engine ended inside a frame.")
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME:
        raise ProtocolError(
            f"A frame claims {length} bytes: something other than Landscope writes to this pipe."
        )
    body = _read_exactly(stream, length)
    if len(body) < length:
        raise ProtocolError("The stream from the engine ended inside a frame.")
    return body


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    parts = []
    while count:
        part = stream.read(count)
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
