"""Perceptually uniform, colour-blind-safe colour maps as tables and as single colours."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

COLOUR_MAPS = ("viridis", "cividis", "plasma", "inferno", "magma", "batlow")
LUMINANCE, LIGHT = (0.299, 0.587, 0.114), 140.0  # of red, green, blue; above it a colour counts as light
_READABLE = {True: (0.30, 0.98), False: (0.04, 0.80)}  # parts of a map that stand out on dark and on light


@lru_cache(maxsize=16)
def colour_table(name: str) -> NDArray[np.uint8]:
    """(256, 4) RGBA of a map; viridis where the name is unknown."""
    from cmap import Colormap

    try:
        colours = Colormap(name)
    except (ValueError, TypeError, FileNotFoundError):
        colours = Colormap("viridis")
    return np.asarray(np.round(colours.lut(256) * 255), np.uint8)


def mapped(values: NDArray[np.floating], limits: tuple[float, float], name: str) -> NDArray[np.uint8]:
    """(…, 4) RGBA of values between ``limits``; what is not finite is transparent."""
    low, high = limits
    span = high - low if high > low else 1.0
    finite = np.isfinite(values)
    position = np.clip((np.where(finite, values, low) - low) / span, 0, 1)
    rgba = colour_table(name)[np.round(position * 255).astype(np.uint8)].copy()
    rgba[~finite] = 0
    return np.asarray(rgba, np.uint8)


def on_colour(value: float, limits: tuple[float, float], name: str) -> str:
    """``#rrggbb`` of a sign that can be read on the colour of a value: dark on light, light on dark."""
    shade = mapped(np.array(value), limits, name)[:3] @ np.array(LUMINANCE)
    return "#14161b" if shade > LIGHT else "#ffffff"


def readable_shade(position: float, dark: bool, name: str = "viridis") -> str:
    """``#rrggbb`` at a position in [0, 1] of the part of a map that stands out on the theme's panels."""
    low, high = _READABLE[dark]
    table = colour_table(name)
    r, g, b, _ = table[round(255 * (low + (high - low) * min(1.0, max(0.0, position))))]
    return f"#{r:02x}{g:02x}{b:02x}"
