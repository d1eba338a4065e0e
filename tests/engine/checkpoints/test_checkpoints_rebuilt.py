"""Tensors however torch pickles them: described as they are, or named with what is wrong."""

import io
import zipfile

import numpy as np
import pytest
import torch

from landscope.checkpoints.header import read_header
from landscope.checkpoints.mappings import find_mappings
from landscope.checkpoints.read import load_tensors
from landscope.checkpoints.records import unreadable
from landscope.contract.errors import CheckpointError


class Rebuilt:
    """Something that is pickled as a call of a function of torch."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


class Remote(torch.Tensor):
    """A tensor whose numbers are elsewhere."""


def record(tmp_path, value):
    torch.save({"w": value, "other": torch.zeros(1)}, tmp_path / "a.pt")
    (found,) = find_mappings(read_header(tmp_path / "a.pt"))
    return found.tensors.get("w")


def numbers(tmp_path, value):
    found = record(tmp_path, value)
    return load_tensors({"w": found})["w"]


PLAIN = torch.arange(6.0).reshape(2, 3)


def with_attribute():
    made = torch.nn.Parameter(PLAIN.clone())
    made.tag = "x"
    return made


@pytest.mark.parametrize(
    "value",
    [
        PLAIN,
        torch.nn.Parameter(PLAIN),
        with_attribute(),
        Rebuilt(torch._utils._rebuild_device_tensor_from_numpy, PLAIN.numpy(), torch.float32, "xla:0", False),
        Rebuilt(torch._utils._rebuild_device_tensor_from_cpu_tensor, PLAIN, torch.float32, "hpu", False),
        Rebuilt(torch._utils._rebuild_parameter_with_state, PLAIN, True, {}, {"a": 1}),
    ],
)
def test_that_every_way_to_rebuild_a_tensor_is_known(tmp_path, value):
    assert torch.equal(numbers(tmp_path, value), PLAIN)


def test_that_the_device_of_a_storage_does_not_matter(tmp_path):
    torch.save({"w": PLAIN}, tmp_path / "cpu.pt")
    for device in (b"cuda:3", b"mps", b"hpu:0", b"npu:1", b"privateuseone"):
        content = change_pickle(
            tmp_path / "cpu.pt", b"X\x03\x00\x00\x00cpu", b"X" + len(device).to_bytes(4, "little") + device
        )
        (tmp_path / "a.pt").write_bytes(content)
        (found,) = find_mappings(read_header(tmp_path / "a.pt"))
        assert torch.equal(load_tensors(found.tensors)["w"], PLAIN)


def test_that_old_storages_of_devices_are_known(tmp_path):
    torch.save({"w": PLAIN}, tmp_path / "cpu.pt")
    content = change_pickle(tmp_path / "cpu.pt", b"ctorch\nFloatStorage\n", b"ctorch.cuda\nFloatStorage\n")
    (tmp_path / "a.pt").write_bytes(content)
    (found,) = find_mappings(read_header(tmp_path / "a.pt"))
    assert torch.equal(load_tensors(found.tensors)["w"], PLAIN)


def change_pickle(path, old, new):
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(buffer, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            assert old in content or not name.endswith("data.pkl")
            after.writestr(name, content.replace(old, new) if name.endswith("data.pkl") else content)
    return buffer.getvalue()


WRAPPER = (torch._utils._rebuild_wrapper_subclass, Remote, torch.float32, (2, 3), (3, 1), 0, torch.strided)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (PLAIN.to("meta"), "no data in the file"),
        (PLAIN.to_sparse(), "is sparse (sparse_coo)"),
        (Rebuilt(*WRAPPER, "cpu", False), "Remote, whose numbers are not plain"),
        (Rebuilt(torch._utils._rebuild_qtensor, *[None] * 7), "is quantised in a way that is not known"),
        (np.ones(3), "is a NumPy array"),
        (torch.zeros(1).expand(1 << 50), "claims more data"),
    ],
)
def test_that_a_tensor_that_cannot_be_read_says_why(tmp_path, value, says):
    assert says in unreadable(record(tmp_path, value))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_that_nested_tensors_are_named(tmp_path):
    value = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    assert "is a nested tensor" in unreadable(record(tmp_path, value))


def test_that_arguments_of_the_wrong_kind_make_no_tensor(tmp_path):
    for function in (
        torch._utils._rebuild_tensor_v2,
        torch._utils._rebuild_parameter,
        torch._utils._rebuild_device_tensor_from_numpy,
        torch._tensor._rebuild_from_type_v2,
    ):
        assert record(tmp_path, Rebuilt(function, 1, 2, 3, 4)) is None


def test_that_calls_with_too_few_arguments_are_one_sentence(tmp_path):
    with pytest.raises(CheckpointError, match=r"^a\.pt: its pickle cannot be read \(TypeError"):
        record(tmp_path, Rebuilt(torch._utils._rebuild_tensor_v2))
