"""Damages the bytes of a checkpoint, by chance and by knowing its format; repeatable by a seed."""

from __future__ import annotations

import pickle
import random
import re
import struct

_LENGTHS = (
    0,
    1,
    2,
    255,
    256,
    65535,
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    (1 << 63) - 1,
    (1 << 64) - 1,
)
_OPCODES = bytes(
    ord(value)
    for name, value in vars(pickle).items()
    if name.isupper() and isinstance(value, bytes) and len(value) == 1
)
_ZIP_RECORDS = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x07\x08")
_JSON_VALUES = (
    b"null",
    b"-1",
    b"[]",
    b"{}",
    b"1e999",
    b"99999999999999999999",
    b'"../../etc/passwd"',
    b"[[[[[[[[",
    b'"\\ud800"',
)


def mutated(original: bytes, seed: int) -> bytes:
    """One to four mutations of the same kind, one after the other."""
    dice = random.Random(seed)
    data = bytearray(original)
    mutate = dice.choice(MUTATIONS)
    for _ in range(dice.randint(1, 4)):
        if data:
            mutate(data, dice)
    return bytes(data)


def _place(data: bytearray, dice: random.Random) -> int:
    """Anywhere, more often near the start and the end, where formats keep their tables."""
    within = dice.choice((len(data), min(len(data), 1024), min(len(data), 200)))
    place = dice.randrange(within)
    return place if dice.random() < 0.7 else len(data) - 1 - place


def _flip_bits(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.randint(1, 8)):
        data[_place(data, dice)] ^= 1 << dice.randrange(8)


def _cut(data: bytearray, dice: random.Random) -> None:
    del data[dice.randrange(len(data)) :]


def _splice(data: bytearray, dice: random.Random) -> None:
    first, second = _place(data, dice), _place(data, dice)
    piece = data[second : second + dice.randint(1, 300)]
    if dice.random() < 0.5:
        data[first:first] = piece
    else:
        data[first : first + len(piece)] = piece


def _edit_length(data: bytearray, dice: random.Random) -> None:
    form = dice.choice(("<B", "<H", "<I", "<Q", ">I", ">Q"))
    value = dice.choice(_LENGTHS) & ((1 << 8 * struct.calcsize(form)) - 1)
    place = _place(data, dice)
    raw = struct.pack(form, value)
    data[place : place + len(raw)] = raw


def _edit_opcodes(data: bytearray, dice: random.Random) -> None:
    begin = max(0, data.find(b"\x80\x02"))
    for _ in range(dice.randint(1, 6)):
        data[begin + dice.randrange(min(len(data) - begin, 1500))] = dice.choice(_OPCODES)


def _edit_zip(data: bytearray, dice: random.Random) -> None:
    found = [m.start() for mark in _ZIP_RECORDS for m in re.finditer(re.escape(mark), data)]
    if not found:
        _edit_length(data, dice)
        return
    place = dice.choice(found) + dice.randrange(4, 46)
    raw = struct.pack("<I", dice.choice(_LENGTHS) & 0xFFFFFFFF)[: dice.choice((1, 2, 4))]
    data[place : place + len(raw)] = raw


def _edit_json(data: bytearray, dice: random.Random) -> None:
    found = list(re.finditer(rb'-?\d+|"[^"]{1,60}"|\[[^\[\]]{0,60}\]', bytes(data[:20000])))
    if not found:
        _splice(data, dice)
        return
    token, value = dice.choice(found), dice.choice(_JSON_VALUES)
    if dice.random() < 0.5:  # of the same length, so that what follows stays in its place
        value = value[: len(token[0])].ljust(len(token[0]))
    data[token.start() : token.end()] = value


MUTATIONS = (_flip_bits, _cut, _splice, _edit_length, _edit_opcodes, _edit_zip, _edit_json)
