"""The unpickler: nothing is imported, nothing foreign is called, nothing of ours can be changed by a file."""

import copyreg
import io
import pickle
import struct
import sys
from pathlib import Path

import pytest

from landscope.checkpoints.pickles.foreign import Foreign, InertArray, Table
from landscope.checkpoints.pickles.harmless import HARMLESS
from landscope.checkpoints.pickles.pickled import unpickled
from landscope.checkpoints.pickles.rebuilt import REBUILD, DtypeName
from landscope.checkpoints.pickles.unpickle import RestrictedUnpickler
from landscope.checkpoints.records import Storage, TensorRecord
from landscope.contract.errors import CheckpointError

PLACE = Storage(Path("a.pt"), 0, 64)


def loads(content):
    return RestrictedUnpickler(io.BytesIO(content), lambda _key: PLACE).load()


def refused(content):
    with pytest.raises(CheckpointError) as caught:
        unpickled(Path("a.pt"), io.BytesIO(content), lambda _key: PLACE)
    return caught.value.sentence


def name(full):
    module, _, last = full.rpartition(".")
    return f"c{module}\n{last}\n".encode()


def number(value):
    return pickle.dumps(value, 2)[2:-1]


def tensor(shape=b"K\x02\x85", stride=b"K\x01\x85", start=b"K\x00"):
    storage = (
        b"(X\x07\x00\x00\x00storage"
        + name("torch.FloatStorage")
        + b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"
    )
    return name("torch._utils._rebuild_tensor_v2") + b"(" + storage + start + shape + stride + b"\x89}tR"


def test_that_attributes_of_a_tensor_do_not_become_those_of_its_record():
    plain = loads(b"\x80\x02" + tensor() + b".")
    for state in (["x"] * 7, {"dtype": "x"}, ((), {"storage": None})):
        assert loads(b"\x80\x02" + tensor() + pickle.dumps(state, 2)[2:-1] + b"b.") == plain


@pytest.mark.parametrize("full", ["numpy.ndarray", "numpy.dtype"])
def test_that_arrays_and_dtypes_are_whole_however_they_are_made(full):
    made = loads(b"\x80\x02" + name(full) + b")\x81.")
    assert made.array is None if isinstance(made, InertArray) else made.order == "<"


@pytest.mark.parametrize("joining", ["torch.device", "pathlib.PosixPath"])
def test_that_texts_joined_with_themselves_do_not_double_for_ever(joining):
    steps = b"".join(b"0" + name(joining) + b"h\x00h\x00\x86Rq\x00" for _ in range(40))
    assert len(loads(b"\x80\x02X\x04\x00\x00\x00textq\x00" + steps + b".")) <= 4096


def test_that_a_list_asked_for_many_times_is_there_once():
    content = b"\x80\x02(K\x01K\x02lq\x00" + name("builtins.list") + b"h\x00\x85Rh\x00\x86."
    first, second = loads(content)
    assert first is second


@pytest.mark.parametrize("offset", [1 << 70, -1, "5", None])
def test_that_a_view_of_a_storage_with_an_impossible_offset_is_refused(offset):
    view = pickle.dumps(("key", offset, 2), 2)[2:-1]
    content = tensor().replace(b"K\x02tQ", b"K\x02" + view + b"tQ") + b"."
    assert "unknown view of a storage" in refused(b"\x80\x02" + content)


ARGUMENTS = b"(X\x02\x00\x00\x00hit"
CALLS = {
    "REDUCE": b"X\x02\x00\x00\x00hi\x85R.",
    "NEWOBJ": b"X\x02\x00\x00\x00hi\x85\x81.",
    "NEWOBJ_EX": b"X\x02\x00\x00\x00hi\x85}\x92.",
    "BUILD": b")R}X\x01\x00\x00\x00aK\x01sb.",
}


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module that would leave a trace when it is imported, and whose function would when it is called."""
    (tmp_path / "trap_module.py").write_text("def spring(*a):\n    raise SystemExit\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "trap_module.spring"
    assert "trap_module" not in sys.modules


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "full", ["os.system", "builtins.eval", "builtins.getattr", "nt.system", "trap_module.spring"]
)
def test_that_names_are_placeholders_however_they_are_called(trap, full, call):
    found = loads(b"\x80\x02" + name(full) + CALLS[call])
    assert isinstance(found, Foreign) and found.origin == full


def test_that_the_old_and_the_stacked_ways_to_name_things_lead_to_placeholders(trap):
    assert loads(b"(X\x02\x00\x00\x00hiitrap_module\nspring\n.").origin == trap
    assert loads(b"(" + name(trap) + b"X\x02\x00\x00\x00hio.").origin == trap
    stacked = b"\x80\x04\x8c\x0btrap_module\x8c\x06spring\x93."
    assert loads(stacked).origin == trap


@pytest.mark.parametrize("opcode", [b"\x82\xf0", b"\x83\xf0\x00", b"\x84\xf0\x00\x00\x00"])
def test_that_registered_extensions_are_placeholders_too(trap, opcode):
    copyreg.add_extension("trap_module", "spring", 0xF0)
    try:
        assert loads(b"\x80\x02" + opcode + b".").origin == trap
    finally:
        copyreg.remove_extension("trap_module", "spring", 0xF0)
        copyreg.clear_extension_cache()


STATES = {
    "attributes": pickle.dumps({"items": 1, "__call__": 2, "dtype": [], "run": 3}, 2)[2:-1],
    "slots": pickle.dumps((None, {"__defaults__": (1,), "__code__": 1, "dtype": 2, "__class__": 3}), 2)[2:-1],
    "nothing": b"N",
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("full", [*HARMLESS, *REBUILD, "torch.FloatStorage", "torch.float32"])
def test_that_what_a_file_may_call_cannot_be_changed_by_it(full, state):
    assert "sets the state" in refused(name(full) + STATES[state] + b"b.") or full in (
        "collections.OrderedDict",
        "numpy.dtype",
        "numpy.ndarray",
    )


def test_that_attributes_of_a_state_dict_do_not_shadow_its_methods():
    table = loads(name("collections.OrderedDict") + b")R" + STATES["attributes"] + b"b.")
    assert type(table) is Table and list(table.items()) == []
    assert not hasattr(table, "__dict__")


def test_that_a_storage_cannot_be_changed_before_it_is_used():
    content = b"(X\x07\x00\x00\x00storage" + name("torch.FloatStorage") + STATES["attributes"] + b"b0."
    assert "sets the state" in refused(content)


@pytest.mark.parametrize(
    "content",
    [
        name("builtins.bytearray") + number(1 << 40) + b"\x85R.",
        name("builtins.bytes") + number(1 << 40) + b"\x85R.",
        name("builtins.list") + name("builtins.range") + number(1 << 40) + b"\x85R\x85R.",
        name("torch.Size") + name("builtins.range") + number(1 << 40) + b"\x85R\x85R.",
        name("builtins.set") + name("itertools.count") + b")R\x85R.",
        name("collections.deque") + name("itertools.repeat") + b"K\x01\x85R\x85R.",
    ],
)
def test_that_no_value_grows_beyond_what_the_file_holds(content):
    assert len(loads(content)) == 0


@pytest.mark.parametrize("shape", [1 << 70, -1, "2", 2.0, None, 1 << 9999])
def test_that_impossible_shapes_are_told_at_the_tensor(shape):
    record = loads(tensor(shape=number(shape) + b"\x85") + b".")
    assert isinstance(record, TensorRecord) and record.problem == "has an impossible shape"


def test_that_a_tensor_may_not_have_more_dimensions_than_torch_allows():
    assert loads(tensor(shape=number((1,) * 65), stride=number((1,) * 65)) + b".").problem


def test_that_a_possible_tensor_is_described():
    assert loads(tensor() + b".") == TensorRecord("float32", (2,), (1,), PLACE)


@pytest.mark.parametrize(
    "content",
    [
        b"}]K\x01s.",  # a list as a key
        b"Vname\n0.",
        b"R.",
        b"h\x05.",
        b"Pname\n.",  # a persistent id that is a text
        b"K\x01Q.",
        b"\x80\x09.",
        b"\x8b\xff\xff\xff\xff.",
        b"I" + b"9" * 5000 + b"\n.",
        b"(X\x07\x00\x00\x00storageK\x01K\x02K\x03K\x04tQ.",
        b"\x96\xff\xff\xff\xff\xff\xff\xff\x7f.",
    ],
)
def test_that_a_damaged_pickle_is_one_sentence(content):
    assert refused(content).startswith("a.pt: ")


def test_that_deep_nesting_is_no_trouble():
    found = loads(b"]" * 200_000 + b"a" * 199_999 + b".")
    assert isinstance(found, list)


def test_that_a_file_may_not_make_placeholders_without_end():
    names = b"".join(name(f"m.c{index}") + b"0" for index in range(3000))
    assert "foreign things" in refused(names + b"N.")


def test_that_names_are_told_short_and_printable():
    content = b"\x80\x04\x8c\x05\x1b[31m\x8c\x01x\x93" + b"X" + struct.pack("<I", 4) + b"abcd" + b"\x86."
    assert loads(content)[0].origin == "\x1b[31m.x"
    assert loads(name("a" * 5000 + ".b") + b".").origin == "a" * 200


def test_that_an_array_is_numbers_only():
    array = name("numpy.core.multiarray._reconstruct") + b")R"
    for code in ("O8", "V8", "(9999999,)f8", "f8,f8", "M8[ns]", "S9"):
        dtype = name("numpy.dtype") + pickle.dumps((code, False, True), 2)[2:-1] + b"R"
        state = b"(K\x01K\x01\x85" + dtype + b"\x89U\x0812345678tb."
        assert loads(array + state).array is None
    assert isinstance(loads(array + b"."), InertArray)


def test_that_dtypes_are_names():
    assert loads(name("torch.bfloat16") + b".") == DtypeName("bfloat16")


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "value",
    [{1, 2}, frozenset({3}), [1, (2,)], {"a": 1}, b"x", bytearray(b"y"), 1 << 80, 1.5, 1j, None, True, "ü"],
)
def test_that_plain_values_are_what_was_saved(value, protocol):
    found = loads(pickle.dumps(value, protocol))
    assert found == value and (type(found) is type(value) or isinstance(value, bytearray))
