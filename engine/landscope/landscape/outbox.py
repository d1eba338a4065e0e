"""Points of a plane that wait to be sent together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from landscope.contract.deltas import Floats, PlanePoints
from landscope.contract.events import Partial
from landscope.landscape.evaluate import Values
from landscope.landscape.grid import Node


class Outbox:
    """Collects points with the same metrics; others leave apart."""

    def __init__(self, plane: str) -> None:
        self._plane = plane
        self._nodes: list[Node] = []
        self._values: list[Values] = []

    def put(self, node: Node, values: Values) -> Iterator[Partial]:
        """Add a point; those waiting leave first if they have other metrics."""
        if self._values and self._values[0].keys() != values.keys():
            yield from self.flush()
        self._nodes.append(node)
        self._values.append(values)

    def flush(self) -> Iterator[Partial]:
        """Send what waits."""
        if not self._nodes:
            return
        places = np.array(self._nodes, np.int64)
        columns: dict[str, Floats] = {
            key: np.array([v[key] for v in self._values], np.float64) for key in self._values[0]
        }
        self._nodes, self._values = [], []
        yield Partial(
            delta=PlanePoints(id=self._plane, rows=places[:, 0], columns=places[:, 1], values=columns)
        )
