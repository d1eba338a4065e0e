"""``/lines/NNNN``: one line, its coordinates, its values and the state of each point."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscope.contract.deltas import LineOpened
from landscope.contract.options import Setting
from landscope.session.layout.put import attach, put_json, put_scale, put_state, put_text
from landscope.session.layout.take import take_flags, take_floats, take_json, take_text
from landscope.session.layout.values import put_values, take_values
from landscope.session.model import Line

_TEXTS = ("id", "run", "title", "start", "end")


def put_line(group: Any, line: Line) -> None:
    """A line into its own, empty group (NXdata: its first metric against ``coordinate``)."""
    for name in _TEXTS:
        put_text(group, name, getattr(line.opened, name))
    put_json(group, "settings", line.opened.settings)
    coordinate = put_scale(group, "coordinate", np.asarray(line.opened.coordinates, np.float64))
    attach(put_state(group, line.state), coordinate)
    put_values(group, line.values, {"coordinate": coordinate})


def take_line(group: Any) -> Line:
    """The line again."""
    coordinates = take_floats(group, "coordinate", (None,))
    opened = LineOpened(
        **{name: take_text(group, name) for name in _TEXTS},
        coordinates=coordinates,
        settings=take_json(group, "settings", dict[str, Setting]),
    )
    line = Line(opened=opened, state=take_flags(group, "state", coordinates.shape))
    line.values = take_values(group, coordinates.shape)
    return line
