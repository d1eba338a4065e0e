"""A bar chart drawn with matplotlib."""

from __future__ import annotations

import math
from typing import Any

from landscope_app.export.draw_names import ROWS, name_rows, rows_apart
from landscope_app.export.figure_style import points
from landscope_app.plots.charts import Bar, BarChart, with_signs
from landscope_app.plots.colour_maps import readable_shade
from landscope_app.theme.colors import Theme

SMALLEST = 8  # pixels of the window; where rows are closer, only some are named
FEWEST_ROWS = 8  # fewer layers leave room below rather than becoming thick


def draw_bars(axes: Any, chart: BarChart, theme: Theme, scale: float) -> None:
    """Draw into ``axes``: first layer on top, value beside each bar, marks of the first checkpoint."""
    size = _text_size(axes, max(len(chart.bars), FEWEST_ROWS), scale)
    every = rows_apart(axes, len(chart.bars), size)
    for k, bar in enumerate(chart.bars):
        _draw_bar(axes, k, bar, chart, theme, size)
        if k % every == 0:
            _write_value(axes, k, bar, theme, size)
    axes.set_ylim(max(len(chart.bars), FEWEST_ROWS) - 0.4, -0.6)
    axes.set_xlim(0, chart.high)
    name_rows(axes, [bar.label for bar in chart.bars], size, every)
    _label(axes, chart, theme)
    if math.isfinite(chart.mean):
        axes.axvline(chart.mean, color=theme.muted, linestyle=(0, (4, 3)), linewidth=points(1, scale))
    axes.set_title(chart.title)
    axes.set_xlabel(_caption(chart))


def _draw_bar(axes: Any, k: int, bar: Bar, chart: BarChart, theme: Theme, size: float) -> None:
    axes.barh(k, chart.high, height=0.52, color=theme.track, linewidth=0)
    if math.isfinite(bar.other):
        axes.barh(k + 0.18, min(bar.other, chart.high), height=0.16, color=theme.muted, linewidth=0)
    if math.isfinite(bar.value):
        few = "too_few_samples" in bar.flags
        colour = readable_shade(bar.value / chart.high, theme.is_dark)
        axes.barh(
            k - 0.1 if chart.other_title else k,
            min(bar.value, chart.high),
            height=0.32 if chart.other_title else 0.52,
            color="none" if few else colour,
            edgecolor=colour,
            hatch="////" if few else None,
            linewidth=0,
        )
    if math.isfinite(bar.reference):
        axes.plot(
            [bar.reference] * 2, [k - 0.36, k + 0.36], color=theme.text, linewidth=size * 0.16, clip_on=False
        )
    if math.isfinite(bar.as_measured):
        axes.plot(
            [bar.as_measured] * 2, [k - 0.36, k + 0.36], color=theme.accent, linestyle=":", clip_on=False
        )


def _write_value(axes: Any, k: int, bar: Bar, theme: Theme, size: float) -> None:
    axes.annotate(
        with_signs(bar),
        (1.0, k),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        ha="left",
        color=theme.muted,
        fontsize=size,
        annotation_clip=False,
    )


def _label(axes: Any, chart: BarChart, theme: Theme) -> None:
    axes.tick_params(axis="y", length=0, labelcolor=theme.text)
    if chart.high == 1.0:
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _text_size(axes: Any, rows: int, scale: float) -> float:
    """Text that fits between the rows: at most the usual size, and no smaller than can be read."""
    height_pt = axes.figure.get_figheight() * 72 * ROWS
    return float(max(points(SMALLEST, scale), min(points(12, scale), height_pt / max(1, rows) * 0.8)))


def _caption(chart: BarChart) -> str:
    """How it was measured; below it what marks and signs stand for; below that what it is compared with."""
    marks = [f"dashed: mean {chart.mean_text}"] if math.isfinite(chart.mean) else []
    if chart.reference_title and any(math.isfinite(b.reference) for b in chart.bars):
        marks.append(f"mark: {chart.reference_title}")
    if chart.measured_title:
        marks.append(f"dotted: {chart.measured_title}")
    signs = {"nonfinite": "! NaN or inf", "too_few_samples": "* too few samples"}
    signs["sampled"] = "~ from a sample of the rows"
    signs["unmatched"] = f"° not in {chart.other_title}"
    marks += [said for flag, said in signs.items() if any(flag in b.flags for b in chart.bars)]
    other = f"lower bars: {chart.other_note}" if chart.other_note else ""
    lines = (chart.otherwise, chart.note, " · ".join(marks), other)
    return "\n".join(filter(None, lines))
