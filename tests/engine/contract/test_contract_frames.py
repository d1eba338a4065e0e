"""Frames: what is sent is what arrives, and nonsense is refused with a sentence."""

import io
import struct

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from landscope.contract import frames
from landscope.contract.deltas import CheckpointInfo, PlanePoints, RunListed
from landscope.contract.errors import ProtocolError
from landscope.contract.events import Event, Log, Partial
from landscope.contract.job import AnyCommand, KnownPoints, PlaneJob, RunJob
from landscope.contract.options import ProjectSpec

EVENTS = frames.decoder(Event)


def through_a_pipe(message):
    return frames.read_frame(io.BytesIO(frames.encode(message)))


@given(hnp.arrays(st.sampled_from([np.float32, np.float64]), hnp.array_shapes(max_dims=3, min_side=0)))
def test_that_arrays_arrive_bit_for_bit(values):
    points = PlanePoints(id="p", rows=np.arange(2), columns=np.arange(2), values={"loss": values})
    arrived = EVENTS.decode(through_a_pipe(Event("job", Partial(delta=points)))).body.delta
    assert arrived.values["loss"].dtype == values.dtype
    assert arrived.values["loss"].tobytes() == values.tobytes()
    assert arrived.values["loss"].flags.writeable


def test_that_a_job_arrives_as_it_was_sent():
    known = KnownPoints(rows=np.arange(3), columns=np.arange(3), values={"loss": np.full(3, np.nan)})
    sent = RunJob(id="a", job=PlaneJob(project=ProjectSpec(root="/p"), id="a", run="r", known=known))
    arrived = frames.decoder(AnyCommand).decode(through_a_pipe(sent))
    assert arrived.job.project == sent.job.project
    assert arrived.job.known.rows.tolist() == [0, 1, 2]
    assert np.isnan(arrived.job.known.values["loss"]).all()


def test_that_the_end_of_the_stream_is_none():
    assert frames.read_frame(io.BytesIO(b"")) is None


@pytest.mark.parametrize("cut", [1, 3, 4, 10])
def test_that_a_torn_frame_is_an_error(cut):
    whole = frames.encode(
        Event("job", Partial(delta=PlanePoints(id="p", rows=np.arange(1), columns=np.arange(1), values={})))
    )
    with pytest.raises(ProtocolError, match="inside a frame"):
        frames.read_frame(io.BytesIO(whole[:cut]))


def test_that_a_frame_of_four_gigabytes_is_refused_unread():
    with pytest.raises(ProtocolError, match="4294967295 bytes"):
        frames.read_frame(io.BytesIO(struct.pack("<I", 0xFFFFFFFF)))


@pytest.mark.parametrize("dtype", ["|O", "<U4", "<M8[s]", "|V8"])
def test_that_arrays_of_objects_are_refused(dtype):
    body = msgspec.msgpack.encode(
        [
            "job",
            {
                "type": "Partial",
                "delta": {
                    "delta": "PlanePoints",
                    "id": "p",
                    "rows": [dtype, [1], b"12345678"],
                    "columns": ["<i8", [0], b""],
                    "values": {},
                },
            },
        ]
    )
    raw = msgspec.msgpack.decode(body)
    with pytest.raises(msgspec.ValidationError, match="not accepted"):
        EVENTS.decode(msgspec.msgpack.encode({"job": raw[0], "body": raw[1]}))


def test_that_a_thing_with_no_place_in_the_contract_cannot_be_sent():
    with pytest.raises(TypeError, match="cannot travel"):
        frames.encode(
            Event(
                "job",
                Partial(
                    delta=PlanePoints(
                        id="p", rows=np.arange(1), columns=np.arange(1), values={"loss": iter(())}
                    )
                ),
            )
        )


def test_that_text_that_is_no_utf8_travels_with_escapes():
    printed = EVENTS.decode(through_a_pipe(Event("job", Log(stream="stdout", text="found b\udcff.pt"))))
    assert printed.body.text == "found b\\udcff.pt"
    info = CheckpointInfo(name="\udcff", notes=("\udcfe",))
    delta = RunListed(run="r", folder="f", checkpoints=(info,))
    listed = EVENTS.decode(through_a_pipe(Event("job", Partial(delta=delta)))).body.delta
    assert listed.checkpoints[0].name == "\\udcff"
    assert listed.checkpoints[0].notes == ("\\udcfe",)
