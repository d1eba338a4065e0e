"""The table, and pictures of every epoch: saturation of each layer in forward order."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from landscope.contract.errors import OptionError
from landscope.saturation.writers.csv_writer import CSVWriter
from landscope.saturation.writers.stored import StoredFile

_SERIES = {"lsat": "saturation", "idim": "intrinsic-dimensionality"}


class CSVandPlottingWriter(CSVWriter):
    """As the table, and ``savepath_lsat_epoch_N.png`` and ``savepath_idim_epoch_N.png`` for each epoch.

    Args:
        savepath: path without ending.
        plot_manipulation_func: takes the matplotlib axes of a finished picture and may change them.
        primary_metric: a series whose value of the epoch stands in the picture.
        fontsize: of the labels, points. figsize: width and height, inches (default: by the number of layers).

    Raises:
        OptionError: matplotlib is not installed.
    """

    def __init__(
        self,
        savepath: str,
        plot_manipulation_func: Callable[[Any], Any] | None = None,
        primary_metric: str = "",
        fontsize: float = 12,
        figsize: tuple[float, float] | None = None,
        **others: Any,
    ) -> None:
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise OptionError(
                'save_to="plot" needs matplotlib, which is not installed; run: pip install "landscope[app]"'
            ) from error
        super().__init__(savepath, **others)
        self._figure = Figure
        self._change, self._metric = plot_manipulation_func, primary_metric
        self._fontsize, self._figsize = fontsize, figsize
        self._pictures: dict[str, StoredFile] = {}

    def save(self) -> None:
        """Write the table and the pictures of the epoch.

        Raises:
            StatisticsFileError: a file cannot be written; the old one is as it was.
        """
        super().save()
        for stat, series in _SERIES.items():
            if values := self._of_epoch(series):
                name = f"{self.savepath}_{stat}_epoch_{self._epochs.current}.png"
                self._pictures.setdefault(name, StoredFile(Path(name))).write(self._drawn(series, values))

    def _of_epoch(self, series: str) -> dict[str, dict[str, float]]:
        """By mode and layer, in the order in which the layers came."""
        found: dict[str, dict[str, float]] = {}
        for name, value in self._table.rows.get(self._epochs.current, {}).items():
            mode, parted, layer = name.partition(f"-{series}_")
            if parted and not isinstance(value, str):
                found.setdefault(mode, {})[layer] = value
        return found

    def _drawn(self, series: str, values: dict[str, dict[str, float]]) -> bytes:
        layers = list(dict.fromkeys(layer for mode in values.values() for layer in mode))
        size = self._figsize or (max(6.0, 2.0 + 0.3 * len(layers)), 4.5)
        figure = self._figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        for mode, found in values.items():
            heights = [found.get(layer, float("nan")) for layer in layers]
            axes.plot(range(len(layers)), heights, marker="o", label=mode)
        self._label(axes, series, layers)
        if self._change is not None:
            self._change(axes)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=120)
        return content.getvalue()

    def _label(self, axes: Any, series: str, layers: list[str]) -> None:
        size = self._fontsize
        axes.set_xticks(range(len(layers)), layers, rotation=90, fontsize=0.8 * size, parse_math=False)
        axes.set_ylabel(series.replace("-", " "), fontsize=size)
        axes.set_ylim(0.0, 1.0 if series == "saturation" else None)
        axes.set_title(self._title(), fontsize=size, parse_math=False)
        axes.grid(alpha=0.3)
        axes.legend()

    def _title(self) -> str:
        epoch = self._epochs.current
        title = f"{Path(self.savepath).name}, epoch {epoch}"
        if self._metric not in self._table.rows[epoch]:
            return title
        value = self._table.rows[epoch][self._metric]
        return f"{title}, {self._metric} {value if isinstance(value, str) else format(value, '.4g')}"
