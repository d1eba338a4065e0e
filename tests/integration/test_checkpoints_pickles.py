"""Pickles made at random from names that may be rebuilt: each file gets one state, and its tensors load."""

import pickle
import random
import zipfile

import pytest

from landscope.checkpoints.discover import list_files
from landscope.checkpoints.pickles.harmless import HARMLESS
from landscope.checkpoints.pickles.rebuilt import DTYPES, REBUILD, STORAGE_TYPES
from landscope.checkpoints.read import load_tensors
from landscope.contract.errors import CheckpointError

TENSOR = "torch._utils._rebuild_tensor_v2"
STORED = ["FloatStorage", "IntStorage", "HalfStorage", "ByteStorage"]
LAYER = "torch.nn.modules.linear.Linear"
NAMES = [*HARMLESS, *REBUILD, *(f"torch.{name}" for name in (*STORAGE_TYPES, *DTYPES)), LAYER, "os.system"]
KEYS = ["weight", "bias", "model", "ema", "_modules", "_parameters", "a._extra_state", "param_groups", "step"]
NUMBERS = [0, 1, 2, 3, 4, 9, 12, -1, 255, 65536, 2**31, 2**61, 2**63, 2**70]
SIZES = [b"K\x03K\x04\x86", b"K\x04K\x01\x86", b"K\x04\x85", b"K\x01\x85", b")"]


def plain(value):
    return pickle.dumps(value, 2)[2:-1].replace(b"q\x00", b"").replace(b"q\x01", b"")


def name(full):
    module, _, last = full.rpartition(".")
    return f"c{module}\n{last}\n".encode()


class Pickles:
    """Random values as the opcodes that make them."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def file(self):
        """A good tensor beside anything."""
        return b"\x80\x02Nq\x000}(" + plain("w") + self.rebuilt(TENSOR) + plain("x") + self.value(0) + b"u."

    def value(self, depth):
        if depth > 3:
            return self.number()
        makers = (self.tensor, self.tensor, self.table, self.call, self.filled, self.array, self.layer)
        return self.chance.choice((*makers, self.simple))(depth + 1)

    def simple(self, _depth):
        return self.chance.choice((self.number(), b"N", b"\x88", plain("x"), name(self.chance.choice(NAMES))))

    def number(self):
        return plain(self.chance.choice(NUMBERS))

    def some(self, depth, most=4):
        return b"(" + b"".join(self.value(depth) for _ in range(self.chance.randrange(most)))

    def sizes(self):
        odd = b"(" + b"".join(self.number() for _ in range(self.chance.randrange(4))) + b"t"
        return self.chance.choice((*SIZES, *SIZES, odd))

    def tensor(self, depth):
        sizes = b"K\x00" + self.sizes() + self.sizes()
        function = self.chance.choice((TENSOR, TENSOR, *REBUILD))
        return self.rebuilt(function, sizes, self.chance.choice("001z"), self.some(depth, 2)[1:])

    def rebuilt(self, function, sizes=b"K\x00" + SIZES[0] + SIZES[1], key="0", more=b""):
        kind = name(f"torch.{self.chance.choice(STORED)}")
        storage = b"(" + plain("storage") + kind + plain(key) + plain("cpu") + b"K\x0ctQ"
        return name(function) + b"(" + storage + sizes + b"\x89}" + more + b"tR"

    def table(self, depth):
        keys = (plain(key) for key in self.chance.sample(KEYS, self.chance.randrange(1, 5)))
        return b"}(" + b"".join(key + self.value(depth) for key in keys) + b"u"

    def call(self, depth):
        return name(self.chance.choice(NAMES)) + self.some(depth) + b"t" + self.chance.choice((b"R", b"\x81"))

    def filled(self, depth):
        return self.value(depth) + self.chance.choice((self.value(depth) + b"b", self.some(depth) + b"e"))

    def array(self, _depth):
        dtype = (
            name("numpy.dtype") + plain(self.chance.choice(("f4", "i8", "O8", "?", "c16"))) + b"\x89\x88\x87R"
        )
        state = b"(K\x01" + self.sizes() + dtype + b"\x89C\x10" + b"A" * 16 + b"t"
        return name("numpy.core.multiarray._reconstruct") + b")R" + state + b"b"

    def layer(self, depth):
        state = b"}(" + plain("_modules") + b"}" + plain("_parameters") + self.table(depth) + b"u"
        return name(LAYER) + b")\x81" + state + b"b"


def check(folder, count):
    for seed in range(count):
        with zipfile.ZipFile(folder / f"step_{seed}.pt", "w") as archive:
            archive.writestr("a/data.pkl", Pickles(seed).file())
            archive.writestr("a/data/0", bytes(48))
            archive.writestr("a/data/1", bytes(4))
    listing = list_files(folder)
    assert len(listing.entries) == count
    loaded = 0
    for entry in listing.entries.values():
        reason = entry.info.reason
        unforeseen = ("cannot be described", "crashed", "to run code", "makes no sense", "took longer")
        assert not any(clause in reason for clause in unforeseen), entry.info
        if entry.matched is not None:
            try:
                load_tensors(entry.matched.tensors, entry.parts)
                loaded += 1
            except CheckpointError:
                pass
    assert loaded > count // 10


def test_that_random_pickles_of_known_names_are_one_state_each(tmp_path):
    check(tmp_path, 2500)


@pytest.mark.long
def test_that_many_random_pickles_of_known_names_are_one_state_each(tmp_path):
    check(tmp_path, 20_000)
