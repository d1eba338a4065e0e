"""Fonts, colours and sizes of exported figures."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from landscope_app.theme.colors import DARK, LIGHT, Theme

PRINT = replace(
    LIGHT,
    background="#ffffff",
    panel="#ffffff",
    text="#000000",
    muted="#2b2f36",
    border="#6b7280",
    grid="#d0d4da",
    track="#e5e7eb",
)
PICTURE_THEMES: dict[str, Theme] = {"dark": DARK, "light": LIGHT, "print": PRINT}
DPI = 100
_REFERENCE = (760.0, 480.0)  # pixels at which text has its size in the window
_FURTHER = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Arial Unicode MS",
)
"""Fonts of the systems for names in other scripts than the bundled ones hold."""


@lru_cache(maxsize=8)
def families(theme_font: str) -> tuple[str, ...]:
    """The families that matplotlib can use: the theme's where it is installed or bundled, its own, others."""
    from matplotlib import font_manager

    _add_bundled()
    known = {entry.name for entry in font_manager.fontManager.ttflist}
    return tuple(name for name in (theme_font, "DejaVu Sans", *_FURTHER) if name in known)


def _add_bundled() -> None:
    from importlib import resources
    from pathlib import Path

    from matplotlib import font_manager

    folder = resources.files("landscope_resources") / "fonts"
    if not isinstance(folder, Path) or not folder.is_dir():
        return  # a zipped package: matplotlib needs real files
    for path in sorted(folder.rglob("*.[to]tf")):
        font_manager.fontManager.addfont(str(path))


def text_scale(width: int, height: int) -> float:
    """How much larger than in the window text and lines are in a picture of this size."""
    return max(0.6, min(width / _REFERENCE[0], height / _REFERENCE[1]))


def points(pixels: float, scale: float) -> float:
    """Pixels of the window as matplotlib's points in a picture of ``scale``."""
    return pixels * scale * 72.0 / DPI


def settings(theme: Theme, scale: float) -> dict[str, Any]:
    """Matplotlib's settings for a theme, used with ``rc_context``."""
    names = families(theme.font)
    return {
        "font.family": list(names),
        "font.size": points(12, scale),
        "axes.facecolor": theme.panel,
        "axes.edgecolor": theme.border,
        "axes.labelcolor": theme.muted,
        "axes.titlecolor": theme.text,
        "axes.titlesize": points(14, scale),
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": points(12, scale),
        "axes.linewidth": points(1, scale),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "figure.facecolor": theme.panel,
        "grid.color": theme.grid,
        "grid.linewidth": points(0.8, scale),
        "grid.alpha": 0.5,
        "text.color": theme.text,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "xtick.labelsize": points(11, scale),
        "ytick.labelsize": points(11, scale),
        "xtick.major.width": points(1, scale),
        "ytick.major.width": points(1, scale),
        "legend.frameon": False,
        "legend.labelcolor": theme.text,
        "legend.fontsize": points(11, scale),
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
    }
