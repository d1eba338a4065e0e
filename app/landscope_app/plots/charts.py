"""What a two-dimensional picture shows, free of Qt and matplotlib: window and exports draw the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        label: what it belongs to. value: its length in units of the chart; NaN = no bar.
        text: the value as written beside it.
        tell: gives ``detail``, which is written only when it is asked for.
        reference: where the same value stood at first; NaN = not known.
        other: the same value in the run that is compared; NaN = none.
        as_measured: where it stood with the threshold of the measurement; NaN = it is that one.
        flags: any of ``dead``, ``too_few_samples``, ``nonfinite``, ``sampled``, ``not_observed``; where runs
            are compared also ``unmatched`` (the other run has none) and ``only_other`` (only that one has).
        dimension, samples: features D and rows n; 0 = not known. readout: value, n and D in one line.
    """

    label: str
    value: float
    text: str
    tell: Callable[[], str] = field(default=str, compare=False)
    reference: float = float("nan")
    flags: tuple[str, ...] = ()
    other: float = float("nan")
    as_measured: float = float("nan")
    dimension: int = 0
    samples: int = 0
    readout: str = ""

    @property
    def detail(self) -> str:
        """More about it in some lines, shown when pointed at."""
        return self.tell()


_SIGNS = {"nonfinite": "!", "too_few_samples": "*", "sampled": "~", "unmatched": "°"}


def with_signs(bar: Bar) -> str:
    """The value as written, and signs of what is to be known about it."""
    return " ".join((bar.text, *(sign for flag, sign in _SIGNS.items() if flag in bar.flags)))


@dataclass(frozen=True)
class BarChart:
    """Bars from 0 to ``high``, one below the other.

    Attributes:
        title: what is drawn. note: how it was measured. empty: sentence shown when there is no bar.
        mean: mean over the bars that have a value, drawn as a line; NaN = none.
        reference_title: what the small marks stand for; empty = no marks.
        measured_title: what the marks of ``as_measured`` stand for; empty = none.
        value_title: what is measured. other_title: the run that the second bars stand for; empty = none.
        other_note: which of its checkpoints, and why that one.
        otherwise: how this checkpoint was measured unlike the last one of its run; empty = alike.
    """

    title: str
    bars: tuple[Bar, ...]
    high: float = 1.0
    note: str = ""
    mean: float = float("nan")
    mean_text: str = ""
    reference_title: str = ""
    empty: str = ""
    measured_title: str = ""
    value_title: str = ""
    other_title: str = ""
    other_note: str = ""
    otherwise: str = ""


@dataclass(frozen=True)
class Series:
    """One curve: ``x`` and ``y`` of equal length, NaN = a gap.

    Attributes:
        error: (N,) standard errors drawn as a band, or None.
        colour: position in the palette of the theme; negative = muted.
        shade: in [0, 1] on the sequential map instead.
        dashed: drawn as dashes. right: belongs to the right axis.
        group: several series of one colour share one entry of the legend.
    """

    name: str
    x: Floats
    y: Floats
    error: Floats | None = None
    colour: int = 0
    shade: float | None = None
    dashed: bool = False
    right: bool = False
    group: str = ""

    @property
    def legend(self) -> str:
        """What the legend calls it: its group, else its name."""
        return self.group or self.name


@dataclass(frozen=True)
class CurveChart:
    """Curves over one x axis with at most two y axes.

    Attributes:
        cursor: x of the selected checkpoint, or None. names: what each x in ``stops`` is called.
        stops: x at which something can be selected. log_x, log_y: logarithmic axes (left y only).
        marks: x of thin upright lines, such as the two ends of a line.
        level: height of a line across, on the right axis where there is one; None = none.
        whole_x: x counts something, so that its ticks are whole numbers.
        style_titles: what solid and dashed curves stand for; empty = nothing.
        front: name of the curve (of its group) that is drawn thicker; empty = none.
    """

    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    right_title: str = ""
    note: str = ""
    empty: str = ""
    cursor: float | None = None
    stops: Floats = field(default_factory=lambda: np.empty(0))
    names: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False
    marks: tuple[float, ...] = ()
    level: float | None = None
    whole_x: bool = False
    style_titles: tuple[str, str] = ("", "")
    front: str = ""


@dataclass(frozen=True)
class FieldChart:
    """A function of two coordinates as a map.

    Attributes:
        alpha: (A,), beta: (B,), z: (A, B) values as displayed (log10 when ``log``), NaN = a hole.
        state: (A, B) flags of ``landscope.session.model`` (sampled, interpolated…).
        limits: lowest and highest displayed value of the colours.
        path: (M, 2) coordinates of checkpoints, or None; names: M names; current: index or -1.
        levels: heights of the contour lines.
    """

    title: str
    alpha: Floats
    beta: Floats
    z: Floats
    state: NDArray[np.uint8]
    axis_titles: tuple[str, str]
    value_title: str
    limits: tuple[float, float]
    levels: tuple[float, ...] = ()
    log: bool = False
    path: Floats | None = None
    names: tuple[str, ...] = ()
    current: int = -1
    colour_map: str = "viridis"
    note: str = ""


@dataclass(frozen=True)
class MapChart:
    """Cells from ``low`` to ``high``: one row per layer, one column per checkpoint; or of two checkpoints.

    Attributes:
        rows: R labels, columns: C labels. values: (R, C), NaN = no value.
        marks: (R, C) signs drawn in the cells, most of them empty.
        share, counted: whether values are shares of 1, or whole numbers. note: what is compared.
        empty: sentence where no cell is. dimensions, samples: (R, C) features D and rows n; 0 = not known.
        other_title: the run whose values were subtracted; empty = none. With it, other_columns: C names of
            its checkpoints; pair: (R, C) values of this run and of that one.
        log: colours follow log10 of the values; low and high are values all the same.
        row_labels, column_labels: what is written beside rows and columns; empty = the rows' names, nothing.
        row_title, column_title: what rows and columns are; empty = not written.
        signs: what the marks stand for. joined: the word between row and column where a cell is told.
        unit: written after a value.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats = field(default_factory=lambda: np.empty((0, 0)))
    marks: NDArray[np.str_] = field(default_factory=lambda: np.empty((0, 0), str))
    high: float = 1.0
    value_title: str = ""
    share: bool = False
    counted: bool = False
    empty: str = ""
    low: float = 0.0
    colour_map: str = "viridis"
    note: str = ""
    dimensions: NDArray[np.integer] = field(default_factory=lambda: np.empty((0, 0), int))
    samples: NDArray[np.integer] = field(default_factory=lambda: np.empty((0, 0), int))
    other_title: str = ""
    other_columns: tuple[str, ...] = ()
    pair: tuple[Floats, Floats] | None = None
    log: bool = False
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()
    row_title: str = ""
    column_title: str = ""
    signs: str = ""
    joined: str = "at"
    unit: str = ""

    @property
    def limits(self) -> tuple[float, float]:
        """Of the colours, as displayed: log10 where ``log``."""
        return (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)

    def displayed(self, values: Floats) -> Floats:
        """Values as colours count them; on a logarithmic map what is not positive has the lowest."""
        if not self.log:
            return values
        return np.log10(np.where(np.isfinite(values), np.maximum(values, self.low), np.nan))


@dataclass(frozen=True)
class PointsChart:
    """Points in a plane, each of one group.

    Attributes:
        points: (m, 2), NaN where a point has no place. group: (m,) index into ``groups``.
        groups: names and colours (position in the theme's series, or a shade), as a legend shows them.
        texts: m texts, one for each point, told when it is pointed at.
        limits: (lowest, highest) of x and of y.
        note: what the points are. empty: sentence shown when there is no point.
        short_titles: both axes in a few words, where there is no room beside them.
    """

    title: str
    axis_titles: tuple[str, str] = ("", "")
    short_titles: str = ""
    points: NDArray[np.floating] = field(default_factory=lambda: np.empty((0, 2)))
    group: NDArray[np.integer] = field(default_factory=lambda: np.empty(0, int))
    groups: tuple[Series, ...] = ()
    texts: tuple[str, ...] = ()
    limits: tuple[tuple[float, float], tuple[float, float]] = ((0.0, 1.0), (0.0, 1.0))
    note: str = ""
    empty: str = ""

    @property
    def listed(self) -> tuple[Series, ...]:
        """The groups of a legend: only those on the ramp, if there is one, so that it is drawn as a ramp."""
        return tuple(group for group in self.groups if group.shade is not None) or self.groups


Chart = BarChart | CurveChart | FieldChart | MapChart | PointsChart
PictureTheme = Literal["dark", "light", "print"]
