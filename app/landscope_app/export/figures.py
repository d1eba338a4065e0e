"""Charts as figures at any size: PNG, SVG and PDF through matplotlib, without pyplot and without a screen."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from landscope.contract.errors import LandscopeError
from landscope_app.export.draw_bars import draw_bars
from landscope_app.export.draw_curves import draw_curves
from landscope_app.export.draw_field import draw_field
from landscope_app.export.draw_map import draw_map
from landscope_app.export.draw_points import draw_points
from landscope_app.export.figure_style import DPI, settings, text_scale
from landscope_app.plots.charts import BarChart, Chart, CurveChart, FieldChart, MapChart, PointsChart
from landscope_app.theme.colors import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure
    from PySide6.QtGui import QImage

FORMATS = ("png", "svg", "pdf")
_CAPTION_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def save_figure(
    charts: Sequence[Chart], path: Path, theme: Theme, width: int, height: int, transparent: bool = False
) -> Path:
    """Write charts side by side to ``path``; its ending says the format.

    Args:
        charts: one or more; all of them with something to show.
        path: ends in .png, .svg or .pdf.
        theme: colours and fonts.
        width: pixels (at 100 per inch in SVG and PDF).
        height: pixels.
        transparent: without a background.

    Raises:
        LandscopeError: another ending, or the file cannot be written.
    """
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise LandscopeError(f"A figure cannot be written as “{path.suffix}”: use .png, .svg or .pdf.")
    with drawn(charts, theme, width, height) as figure:
        try:
            figure.savefig(
                path, format=kind, dpi=DPI, transparent=transparent, metadata=_CAPTION_METADATA[kind]
            )
        except OSError as error:
            raise LandscopeError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def figure_array(
    charts: Sequence[Chart], theme: Theme, width: int, height: int, transparent: bool = False
) -> NDArray[np.uint8]:
    """Charts side by side as (height, width, 4) bytes: red, green, blue, alpha, not premultiplied."""
    with drawn(charts, theme, width, height) as figure:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="rgba", dpi=DPI, transparent=transparent)
        return np.frombuffer(buffer.getvalue(), np.uint8).reshape(height, width, 4).copy()


def figure_image(
    charts: Sequence[Chart], theme: Theme, width: int, height: int, transparent: bool = False
) -> QImage:
    """Charts side by side as an image for the clipboard or a PNG file."""
    from PySide6.QtGui import QImage

    pixels = figure_array(charts, theme, width, height, transparent)
    return QImage(pixels.tobytes(), width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()


@contextmanager
def drawn(charts: Sequence[Chart], theme: Theme, width: int, height: int) -> Iterator[Figure]:
    """A figure of exactly this size with the charts in it; the settings hold while it is used."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scale = text_scale(width // max(1, len(charts)), height)
    chosen: Any = settings(theme, scale)
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # drawn as a box, as everywhere
        mpl.rcdefaults()  # a matplotlibrc where the program was started may name programs to run
        mpl.rcParams.update(chosen)
        figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, layout=_layout(charts))
        FigureCanvasAgg(figure)
        layout: Any = figure.get_layout_engine()
        layout.set(w_pad=0.12 * scale, h_pad=0.12 * scale)
        for axes, chart in zip(figure.subplots(1, len(charts), squeeze=False)[0], charts, strict=True):
            _draw(axes, chart, theme, scale)
        yield figure


def _layout(charts: Sequence[Chart]) -> Literal["compressed", "constrained"]:
    """Maps keep their proportions: ``compressed`` closes the gaps that this leaves."""
    return "compressed" if any(isinstance(chart, FieldChart) for chart in charts) else "constrained"


def _draw(axes: Any, chart: Chart, theme: Theme, scale: float) -> None:
    if isinstance(chart, BarChart):
        draw_bars(axes, chart, theme, scale)
    elif isinstance(chart, CurveChart):
        draw_curves(axes, chart, theme, scale)
    elif isinstance(chart, MapChart):
        draw_map(axes, chart, theme, scale)
    elif isinstance(chart, PointsChart):
        draw_points(axes, chart, theme, scale)
    else:
        assert isinstance(chart, FieldChart)
        draw_field(axes, chart, theme, scale)
