"""A panel of results that can be exported and copied as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from landscope.contract.errors import LandscopeError
from landscope_app.plots.charts import Chart
from landscope_app.views.live import LiveView

if TYPE_CHECKING:
    from PySide6.QtGui import QImage


class Pictured(LiveView):
    """Base of the panels whose contents are charts: pictures are drawn anew, never grabbed from a screen."""

    @property
    def picture_title(self) -> str:
        """What the picture shows, in a word or two."""
        raise NotImplementedError

    @property
    def vector(self) -> bool:
        """Whether it can be written as SVG and PDF, too."""
        return True

    def charts(self) -> tuple[Chart, ...]:
        """What is shown now.

        Raises:
            LandscopeError: there is nothing to show yet.
        """
        raise NotImplementedError

    def use(self, part: QWidget) -> None:
        """A part of the panel was clicked or reached by the keyboard: pictures are of that one."""

    def picture(self, width: int, height: int, transparent: bool = False) -> QImage:
        """What is shown now as an image of any size (device pixels).

        Raises:
            LandscopeError: there is nothing to show yet, or nothing here can draw it.
        """
        from landscope_app.export.figures import figure_image

        return figure_image(self.charts(), self.theme, width, height, transparent)

    def export_image(self, path: str, width: int, height: int, transparent: bool = False) -> None:
        """Write what is shown now to ``path``, whose ending says the format.

        Raises:
            LandscopeError: there is nothing to show yet, or it cannot be drawn or written.
        """
        from landscope_app.export.figures import save_figure

        save_figure(self.charts(), Path(path), self.theme, width, height, transparent)


def or_refuse(title: str, chart: Chart, empty: str) -> tuple[Chart, ...]:
    """The chart, where ``empty`` gives no reason why there is none.

    Raises:
        LandscopeError: there is nothing to show yet.
    """
    if empty:
        raise LandscopeError(f"There is no picture of {title} yet. {empty}")
    return (chart,)
