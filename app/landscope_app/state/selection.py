"""What is selected, without Qt: run, checkpoint, plane, line, metric, layer, threshold…, with undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from landscope.session.model import Session

Listener = Callable[[frozenset[str]], None]


@dataclass(frozen=True)
class Chosen:
    """One state of the selection; every field is a name, empty = nothing."""

    run: str = ""
    checkpoint: str = ""
    plane: str = ""
    line: str = ""
    metric: str = "loss"
    split: str = "train"
    layer: str = ""
    threshold: str = ""
    saturation: str = "bars"
    against: str = ""
    layer_view: str = "spectrum"
    distance: str = "curves"
    quantity: str = "distance"
    curves: str = "total"
    layers: str = ""
    axes: str = ""
    rows: str = "layers"
    row: str = ""
    matrix: str = ""
    beside: str = ""


class Selection:
    """What the views follow.

    Attributes (read them; change them through ``set``):
        run, checkpoint: names. plane, line: ids. metric: ``loss``, ``accuracy``… split: ``train``, ``test``.
        layer: the layer whose spectrum is shown. threshold: share of the variance, None = as measured.
        saturation: drawn as ``bars`` of one checkpoint or as a ``map`` of all.
        against: name of the run that saturation is compared with; empty = none.
        layer_view: what is drawn of the layer, its ``spectrum`` or its ``samples``.
        chosen.distance: distances as ``curves``, ``map``, ``matrix`` or ``table``. chosen.quantity: its key.
        chosen.curves: of the ``total``, of all ``layers`` or of the ``chosen`` ones, which are in ``layers``.
        chosen.axes: those that are logarithmic, of ``x`` and ``y``.
        chosen.rows: of map and table, ``layers`` or ``parameters``; chosen.row: the one picked last.
        chosen.matrix: which one. chosen.beside: checkpoint of its chosen column.

    A listener is called with the names of the fields that changed, after all of them have changed.
    """

    def __init__(self) -> None:
        self._now = Chosen()
        self._listeners: list[Listener] = []

    @property
    def run(self) -> str:
        """Name of the current run."""
        return self._now.run

    @property
    def checkpoint(self) -> str:
        """Name of the current checkpoint, within the current run."""
        return self._now.checkpoint

    @property
    def plane(self) -> str:
        """Id of the plane that is shown."""
        return self._now.plane

    @property
    def line(self) -> str:
        """Id of the line that is shown."""
        return self._now.line

    @property
    def metric(self) -> str:
        """The metric drawn as height."""
        return self._now.metric

    @property
    def split(self) -> str:
        """The split whose curves are in front."""
        return self._now.split

    @property
    def layer(self) -> str:
        """Name of the layer whose spectrum is shown; empty = none."""
        return self._now.layer

    @property
    def threshold(self) -> float | None:
        """Share of the variance in (0, 1] that saturation is shown for; None = as measured."""
        return share_of(self._now.threshold)

    @property
    def saturation(self) -> str:
        """``map`` where saturation is drawn over all checkpoints, else ``bars``."""
        return "map" if self._now.saturation == "map" else "bars"

    @property
    def against(self) -> str:
        """Name of the run that saturation is compared with; empty = none."""
        return self._now.against

    @property
    def layer_view(self) -> str:
        """``samples`` where the layer's samples are drawn, else ``spectrum``."""
        return "samples" if self._now.layer_view == "samples" else "spectrum"

    @property
    def chosen_layers(self) -> tuple[str, ...]:
        """Names of the layers whose distances are drawn together."""
        return tuple(filter(None, self._now.layers.split("\n")))

    @property
    def chosen(self) -> Chosen:
        """All fields at once, for undo and for the session's view."""
        return self._now

    def set(self, **changes: str) -> None:
        """Change some fields; listeners hear of it once, and only if something differs.

        Raises:
            TypeError: there is no such field.
        """
        self.restore(replace(self._now, **changes))

    def restore(self, chosen: Chosen) -> None:
        """Go to a state that ``chosen`` gave earlier."""
        before, self._now = self._now, chosen
        changed = frozenset(
            f.name for f in fields(Chosen) if getattr(before, f.name) != getattr(chosen, f.name)
        )
        if changed:
            for listener in tuple(self._listeners):
                listener(changed)

    def listen(self, callback: Listener) -> Callable[[], None]:
        """Call ``callback`` after every change; returns a function that ends it."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def settle(self, session: Session) -> None:
        """Choose something wherever nothing valid is chosen: first run, last checkpoint, the run's plane."""
        self.restore(settled(self._now, session))


def share_of(text: str) -> float | None:
    """A share in (0, 1] from its text; None for anything else, such as a strange view in a session."""
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0.0 < share <= 1.0 else None


def settled(chosen: Chosen, session: Session) -> Chosen:
    """``chosen`` with every name that the session does not know replaced by a sensible one."""
    run = chosen.run if chosen.run in session.runs else next(iter(session.runs), "")
    names = session.runs[run].names if run else ()
    checkpoint = chosen.checkpoint if chosen.checkpoint in names else (names[-1] if names else "")
    plane = chosen.plane if _belongs(session.planes, chosen.plane, run) else _first(session.planes, run)
    line = chosen.line if _belongs(session.lines, chosen.line, run) else _first(session.lines, run)
    layer = chosen.layer if _has_layer(session, run, chosen.layer) else ""
    against = chosen.against if chosen.against in session.runs and chosen.against != run else ""
    return replace(
        chosen, run=run, checkpoint=checkpoint, plane=plane, line=line, layer=layer, against=against
    )


def _has_layer(session: Session, run: str, layer: str) -> bool:
    found = (rows.get(run) for rows in (session.distances, session.gradients))
    moved = any(layer in one.opened.layers for one in found if one is not None)
    return bool(layer) and (moved or has_saturation(session, run, layer))


def has_saturation(session: Session, run: str, layer: str) -> bool:
    """Whether saturation names the layer, observed or not, at any checkpoint of the run."""
    found = (m for s in session.saturation.values() if s.run == run for m in s.measured.values())
    return any(
        any(layer == one.layer for one in m.layers) or any(layer == one.layer for one in m.not_observed)
        for m in found
    )


def _belongs(results: dict, name: str, run: str) -> bool:  # type: ignore[type-arg]
    return name in results and results[name].opened.run == run


def _first(results: dict, run: str) -> str:  # type: ignore[type-arg]
    return next((name for name, result in results.items() if result.opened.run == run), "")
