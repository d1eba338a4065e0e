"""Named colours of the dark and the light look. Everything that draws takes its colours from here.

Text colours keep a contrast of at least 4.5 on ``background``, ``panel`` and ``raised`` (WCAG 2.1, 1.4.3),
series colours at least 3 (1.4.11); a test computes both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ThemeName = Literal["dark", "light"]


@dataclass(frozen=True)
class Theme:
    """All colours as ``#rrggbb``, font families and sizes in device-independent pixels.

    Attributes:
        background: of the window and the 3-D scene. panel: of lists and plots. raised: buttons, headers.
        border: outlines. grid: grid lines of plots and of the axes box.
        text, muted: foregrounds. accent: selection and primary buttons. accent_text: text on it.
        path: the training path. marker: the current checkpoint on it.
        warning, error, good: of sentences and marks (never the only sign: words or shapes go with them).
        track: the empty part of a bar. series: colour-blind safe, in order of use.
        colormap: name of the default perceptually uniform map.
        font, mono: families. size, small: text sizes, never below 11.
    """

    name: ThemeName
    background: str
    panel: str
    raised: str
    border: str
    grid: str
    text: str
    muted: str
    accent: str
    accent_text: str
    path: str
    marker: str
    warning: str
    error: str
    good: str
    track: str
    series: tuple[str, ...]
    colormap: str = "viridis"
    font: str = "Inter"
    mono: str = "JetBrains Mono"
    size: int = 13
    small: int = 11

    @property
    def is_dark(self) -> bool:
        """Whether this is the dark look."""
        return self.name == "dark"


DARK = Theme(
    name="dark",
    background="#14161b",
    panel="#1a1d24",
    raised="#252a33",
    border="#333a46",
    grid="#3a4150",
    text="#e7eaf0",
    muted="#a3acba",
    accent="#62acff",
    accent_text="#08121f",
    path="#ff7a66",
    marker="#ffffff",
    warning="#f2b84b",
    error="#ff8b85",
    good="#63d3a6",
    track="#2c323d",
    series=("#62acff", "#ffb255", "#4fd1b0", "#e79bd3", "#efe26a", "#ff8d70", "#a9c7ef"),
)

LIGHT = Theme(
    name="light",
    background="#f5f7fa",
    panel="#ffffff",
    raised="#e9edf3",
    border="#cbd3de",
    grid="#d5dbe5",
    text="#161b24",
    muted="#515c6d",
    accent="#1f5fd0",
    accent_text="#ffffff",
    path="#c8321f",
    marker="#10141b",
    warning="#8a5200",
    error="#b3261e",
    good="#0b6b4c",
    track="#dfe5ed",
    series=("#1f5fd0", "#b35c00", "#00785a", "#a03c83", "#766600", "#c0392b", "#3b6f94"),
)

THEMES: dict[str, Theme] = {"dark": DARK, "light": LIGHT}


def luminance(colour: str) -> float:
    """Relative luminance in [0, 1] of ``#rrggbb`` (WCAG 2.1, definition of relative luminance)."""
    channels = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio in [1, 21] of two colours (WCAG 2.1)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
