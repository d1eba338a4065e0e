"""What the marks beside the bars stand for, and how many layers each sign concerns, in one line each."""

from __future__ import annotations

import math

from landscope_app.plots.charts import BarChart


def marks_key(chart: BarChart) -> str:
    """The line of the mean, the marks of the first checkpoint and of the threshold of the measurement."""
    parts = []
    if math.isfinite(chart.mean):
        parts.append(f"┆ mean {chart.mean_text}")
    if chart.reference_title and any(math.isfinite(b.reference) for b in chart.bars):
        parts.append(f"┃ {chart.reference_title}")
    if chart.measured_title:
        parts.append(f"┊ {chart.measured_title}")
    return "    ".join(parts)


def other_key(chart: BarChart) -> str:
    """What the second bars stand for; empty where there are none."""
    return f"▬ {chart.other_note}" if chart.other_note else ""


def flags_key(chart: BarChart) -> str:
    """What is wrong with layers, and with how many; empty where nothing is."""
    other = chart.other_title
    meanings = {
        "dead": "dead: the output never varies",
        "nonfinite": "! NaN or inf",
        "too_few_samples": "* too few samples",
        "sampled": "~ from a sample of the rows",
        "not_observed": "not observed",
        "unmatched": f"° not in {other}",
        "only_other": f"only in {other}",
    }
    counts = {flag: sum(flag in bar.flags for bar in chart.bars) for flag in meanings}
    return "    ".join(f"{counts[flag]} {said}" for flag, said in meanings.items() if counts[flag])
