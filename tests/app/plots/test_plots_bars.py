import numpy as np
from fake_session import LAYERS, RUNS, fake_session, names
from msgspec.structs import replace
from PySide6.QtGui import QImage
from qt_application import Keep

from landscope_app.plots.bars import OTHER, PADDING, ROW, THICKNESS, BarsCanvas, BarsWidget
from landscope_app.plots.charts import Bar, BarChart, with_signs
from landscope_app.plots.saturation_chart import saturation_chart
from landscope_app.theme.colors import DARK, LIGHT
from landscope_app.views.saturation_key import flags_key


def _canvas(keep: Keep, *bars: Bar, mean: float = float("nan")) -> BarsCanvas:
    canvas = BarsCanvas(DARK)
    keep(canvas)
    canvas.set_chart(BarChart("t", bars, mean=mean))
    canvas.resize(400, canvas.sizeHint().height())
    return canvas


def _row(canvas: BarsCanvas, k: int) -> np.ndarray:  # type: ignore[type-arg]
    """(W, 3) colours along the middle of a row."""
    image = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
    return pixels[int(PADDING + (k + 0.5) * ROW), :, :3].astype(int)


def _filled(canvas: BarsCanvas, k: int) -> int:
    """How many pixels of a row are neither background, track, text nor mark: coloured ones."""
    row = _row(canvas, k)
    return int((row.max(axis=1) - row.min(axis=1) > 60).sum())


def test_that_a_bar_is_as_long_as_its_value(keep: Keep) -> None:
    canvas = _canvas(keep, *(Bar(f"layer{v}", v, "50 %") for v in (0.25, 0.5, 1.0)))
    quarter, half, full = (_filled(canvas, k) for k in range(3))
    assert full > 200
    assert abs(half / full - 0.5) < 0.05
    assert abs(quarter / full - 0.25) < 0.05


def test_that_a_layer_without_value_has_no_bar(keep: Keep) -> None:
    canvas = _canvas(keep, Bar("a", 0.0, "dead", flags=("dead",)), Bar("b", float("nan"), "NaN"))
    assert _filled(canvas, 1) == 0


def test_that_the_height_grows_with_the_layers_and_the_area_scrolls(keep: Keep) -> None:
    area = BarsWidget(DARK)
    keep(area)
    area.set_chart(BarChart("t", tuple(Bar(f"layer{k}", 0.5, "50 %") for k in range(200))))
    area.resize(300, 200)
    assert area.canvas.height() >= 200 * ROW
    assert area.verticalScrollBar().maximum() > 0 or area.canvas.height() > area.height()


def test_that_another_theme_gives_another_picture(keep: Keep) -> None:
    canvas = _canvas(keep, Bar("a", 0.5, "50 %"))
    dark = _row(canvas, 0)
    canvas.apply_theme(LIGHT)
    assert np.abs(_row(canvas, 0) - dark).max() > 50


def test_that_values_can_be_read_without_seeing(keep: Keep) -> None:
    canvas = _canvas(keep, Bar("conv1", 0.5, "50 %"), Bar("fc", 0.0, "dead"))
    assert canvas.accessibleDescription() == "conv1: 50 %; fc: dead"


def test_that_every_flag_is_told_by_a_sign_a_sentence_and_in_the_key() -> None:
    session = fake_session(RUNS[:1])
    measured = next(iter(session.saturation.values())).measured
    name = names()[2]
    flags = ("too_few_samples", "nonfinite", "sampled")
    layers = [replace(one, flags=flags, nonfinite=3) for one in measured[name].layers]
    measured[name] = replace(measured[name], layers=tuple(layers))
    chart = saturation_chart(session, RUNS[0], name)
    assert with_signs(chart.bars[0]).endswith("! * ~")
    for said in ("3 rows with NaN", "too few", "a sample of them"):
        assert said in chart.bars[0].detail
    assert f"{len(LAYERS)} ~ from a sample" in flags_key(chart)


def test_that_the_bar_of_the_other_run_lies_below(keep: Keep) -> None:
    canvas = BarsCanvas(DARK)
    keep(canvas)
    canvas.resize(400, 100)

    def coloured(other: float) -> int:
        bars = (Bar("a", 0.2, "20 %", other=other),)
        canvas.set_chart(BarChart("t", bars, other_title="b"))
        image = canvas.grab().toImage()
        y = int(PADDING + ROW / 2 + THICKNESS / 2 - OTHER / 2)
        return sum(image.pixelColor(x, y).name() == DARK.muted for x in range(400))

    assert coloured(float("nan")) < coloured(0.4) < coloured(0.8)
