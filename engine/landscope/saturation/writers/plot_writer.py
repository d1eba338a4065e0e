"""The table, and pictures of every epoch: saturation of each layer in forward order, embedded samples."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscope.contract.errors import OptionError
from landscope.saturation.series_names import LABELS, SERIES, parts
from landscope.saturation.writers.csv_writer import CSVWriter
from landscope.saturation.writers.embedding_picture import draw_embeddings
from landscope.saturation.writers.stored import StoredFile
from landscope.saturation.writers.values import plain


class CSVandPlottingWriter(CSVWriter):
    """As the table, and pictures ``savepath_lsat_epoch_N.png``, likewise ``idim`` and ``embed``, per epoch.

    Rings mark values that are not to be trusted. Embedded samples are coloured by their labels.

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
            from matplotlib import colormaps
            from matplotlib.figure import Figure
        except ImportError as error:
            raise OptionError(
                'save_to="plot" needs matplotlib, which is not installed; run: pip install "landscope[app]"'
            ) from error
        super().__init__(savepath, **others)
        self._figure, self._colour_maps = Figure, colormaps
        self._change, self._metric = plot_manipulation_func, primary_metric
        self._fontsize, self._figsize = fontsize, figsize
        self._pictures: dict[str, StoredFile] = {}
        self._flags: dict[tuple[str, str], Sequence[str]] = {}
        self._samples: dict[str, NDArray[Any]] = {}
        self._samples_of = 0

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:
        """Take one value; of arrays also embedded samples and their labels."""
        super().add_scalar(name, value, **kwargs)
        named, found = parts(name), plain(value)
        if named and named.series == SERIES["embed"] and isinstance(found, np.ndarray):
            if self._samples_of != self._epochs.current:
                self._samples.clear()
                self._samples_of = self._epochs.current
            self._samples[name] = found

    def add_flags(self, mode: str, layer: str, flags: Sequence[str]) -> None:
        """Mark the values of the layer that come next."""
        self._flags[mode, layer] = flags

    def save(self) -> None:
        """Write the table and the pictures of the epoch.

        Raises:
            StatisticsFileError: a file cannot be written; the old one is as it was.
        """
        super().save()
        for stat in ("lsat", "idim"):
            if values := self._of_epoch(SERIES[stat]):
                self._store(stat, self._drawn(SERIES[stat], values))
        if self._samples and self._samples_of == self._epochs.current:
            self._store("embed", self._embedded())

    def _store(self, stat: str, figure: Any) -> None:
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=120)
        name = f"{self.savepath}_{stat}_epoch_{self._epochs.current}.png"
        self._pictures.setdefault(name, StoredFile(Path(name))).write(content.getvalue())

    def _embedded(self) -> Any:
        titles = {name: f"{named.mode} {named.layer}" for name in self._samples if (named := parts(name))}
        placed = {titles[name]: found for name, found in self._samples.items() if found.ndim == 2}
        labels = {
            titles[name.removesuffix(LABELS)]: found
            for name, found in self._samples.items()
            if found.ndim == 1
        }
        figure = self._figure(layout="constrained")
        figure.suptitle(self._title(), fontsize=self._fontsize, parse_math=False)
        draw_embeddings(figure, placed, labels, self._fontsize, self._colour_maps)
        return figure

    def _of_epoch(self, series: str) -> dict[str, dict[str, float]]:
        """By mode and layer, in the order in which the layers came."""
        found: dict[str, dict[str, float]] = {}
        for name, value in self._table.rows.get(self._epochs.current, {}).items():
            mode, parted, layer = name.partition(f"-{series}_")
            if parted and not isinstance(value, str):
                found.setdefault(mode, {})[layer] = value
        return found

    def _drawn(self, series: str, values: dict[str, dict[str, float]]) -> Any:
        layers = list(dict.fromkeys(layer for mode in values.values() for layer in mode))
        size = self._figsize or (max(6.0, 2.0 + 0.3 * len(layers)), 4.5)
        figure = self._figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        for mode, found in values.items():
            heights = [found.get(layer, float("nan")) for layer in layers]
            axes.plot(range(len(layers)), heights, marker="o", label=mode)
        self._mark(axes, layers, values)
        self._label(axes, series, layers)
        if self._change is not None:
            self._change(axes)
        return figure

    def _mark(self, axes: Any, layers: list[str], values: dict[str, dict[str, float]]) -> None:
        flagged = [
            (layers.index(layer), height, flags)
            for mode, found in values.items()
            for layer, height in found.items()
            if (flags := self._flags.get((mode, layer)))
        ]
        if flagged:
            places, heights, flags = zip(*flagged, strict=True)
            told = ", ".join(dict.fromkeys(flag.replace("_", " ") for of_one in flags for flag in of_one))
            axes.plot(places, heights, "o", markersize=12, fillstyle="none", color="0.3", label=told)

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
