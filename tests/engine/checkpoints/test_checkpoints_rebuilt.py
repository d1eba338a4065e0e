"""Tensors however torch pickles them: described as they are, or named with what is wrong."""

import io
import zipfile

import numpy as np
import pytest
import torch

from landscope.checkpoints.discover import list_run
from landscope.checkpoints.files.header import read_header
from landscope.checkpoints.files.mappings import find_mappings
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


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize(
    ("channels", "axis"), [(torch.ones(3), 0), (torch.ones(2), 9), (torch.ones(2), 1 << 61), (PLAIN, 0)]
)
def test_that_channels_that_do_not_fit_their_tensor_are_told(tmp_path, channels, axis):
    quantised = torch.quantize_per_channel(PLAIN, torch.ones(2), torch.zeros(2), 0, torch.qint8)
    function, arguments = quantised.__reduce_ex__(2)
    arguments = (*arguments[:4], (torch.per_channel_affine, channels, channels, axis), *arguments[5:])
    assert "is quantised in a way that is not known" in unreadable(
        record(tmp_path, Rebuilt(function, *arguments))
    )


@pytest.mark.parametrize("shape", [(0, 1 << 61, 1 << 61), (1 << 60,) * 60])
def test_that_a_shape_that_no_tensor_has_is_told(tmp_path, shape):
    function, arguments = torch.empty(0).__reduce_ex__(2)
    made = Rebuilt(function, *arguments[:2], shape, (1,) * len(shape), *arguments[4:])
    assert unreadable(record(tmp_path, made)) == "has an impossible shape"
    (info,) = list_run(tmp_path).others
    assert "impossible shape" in info.reason


def test_that_a_tensor_without_its_bytes_in_the_archive_is_told(tmp_path):
    torch.save({"w": PLAIN}, tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as whole, zipfile.ZipFile(tmp_path / "b.pt", "w") as cut:
        for info in whole.infolist():
            if not info.filename.endswith("data/0"):
                cut.writestr(info.filename, whole.read(info))
    (found,) = find_mappings(read_header(tmp_path / "b.pt"))
    assert unreadable(found.tensors["w"]) == "has no bytes in the file: it was not saved whole, save it again"


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
