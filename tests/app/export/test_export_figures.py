from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from PIL import Image

from landscope.contract.errors import LandscopeError
from landscope_app.export.figure_style import PICTURE_THEMES
from landscope_app.export.figures import drawn, figure_array, save_figure
from landscope_app.plots.charts import Bar, BarChart, Chart, MapChart
from landscope_app.plots.distance_chart import CurveChoice, distance_chart
from landscope_app.plots.landscape_chart import field_chart, line_chart
from landscope_app.plots.loss_chart import loss_chart
from landscope_app.plots.samples_chart import samples_chart
from landscope_app.plots.saturation_chart import saturation_chart
from landscope_app.plots.saturation_map import saturation_map
from landscope_app.plots.spectrum_chart import spectrum_chart

RUN = RUNS[0]
DARK, LIGHT = PICTURE_THEMES["dark"], PICTURE_THEMES["light"]


@pytest.fixture(scope="module")
def charts() -> dict[str, Chart]:
    session = fake_session()
    plane = field_chart(session, f"{RUN}-random", names()[3])
    assert plane is not None
    return {
        "saturation": saturation_chart(session, RUN, names()[3]),
        "spectrum": spectrum_chart(session, RUN, names()[3], LAYERS[0], threshold=0.9),
        "samples": samples_chart(session, RUN, names()[3], LAYERS[0]),
        "map": saturation_map(session, RUN),
        "losses": loss_chart(session, RUN, names()[3]),
        "distance": distance_chart(session, RUN, choice=CurveChoice("layers")),
        "line": line_chart(session, f"{RUN}-line"),
        "plane": plane,
    }


@pytest.mark.parametrize(
    "name", ["saturation", "spectrum", "samples", "map", "losses", "distance", "line", "plane"]
)
def test_that_every_chart_can_be_a_png_of_exactly_the_size_asked(
    charts: dict[str, Chart], name: str, tmp_path: Path
) -> None:
    path = save_figure((charts[name],), tmp_path / f"{name}.png", DARK, 433, 307)
    with Image.open(path) as image:
        assert image.size == (433, 307)
        pixels = np.asarray(image.convert("RGB"))
    assert tuple(int(c) for c in pixels[2, 2]) == tuple(bytes.fromhex(DARK.panel[1:]))
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50


def test_that_svg_and_pdf_are_written_and_stay_the_same(charts: dict[str, Chart], tmp_path: Path) -> None:
    svg = save_figure((charts["line"],), tmp_path / "line.svg", LIGHT, 500, 300)
    assert b"<svg" in svg.read_bytes()[:600]
    pdf = save_figure((charts["plane"],), tmp_path / "plane.pdf", LIGHT, 500, 300)
    assert pdf.read_bytes().startswith(b"%PDF")


def test_that_a_transparent_figure_has_no_background(charts: dict[str, Chart]) -> None:
    opaque = figure_array((charts["losses"],), LIGHT, 300, 200)
    clear = figure_array((charts["losses"],), LIGHT, 300, 200, transparent=True)
    assert opaque[1, 1, 3] == 255
    assert clear[1, 1, 3] == 0
    assert clear[..., 3].max() == 255


def test_that_two_planes_stand_side_by_side(charts: dict[str, Chart]) -> None:
    pair = figure_array((charts["plane"], charts["plane"]), DARK, 800, 300).astype(int)
    coloured = np.ptp(pair[..., :3], axis=2) > 60
    assert coloured[:, :400].sum() == pytest.approx(coloured[:, 400:].sum(), rel=0.05)


def test_that_an_unknown_ending_gets_a_sentence(charts: dict[str, Chart], tmp_path: Path) -> None:
    with pytest.raises(LandscopeError, match=r"use \.png, \.svg or \.pdf"):
        save_figure((charts["line"],), tmp_path / "line.bmp", LIGHT, 300, 200)


def test_that_a_missing_folder_gets_a_sentence(charts: dict[str, Chart], tmp_path: Path) -> None:
    with pytest.raises(LandscopeError, match="cannot be written"):
        save_figure((charts["line"],), tmp_path / "no" / "line.png", LIGHT, 300, 200)


def test_that_the_settings_of_matplotlib_are_left_alone(charts: dict[str, Chart]) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    figure_array((charts["losses"],), DARK, 300, 200)
    assert dict(mpl.rcParams) == before


def test_that_settings_of_the_folder_where_the_program_started_change_no_picture(
    charts: dict[str, Chart], tmp_path: Path
) -> None:
    plain = figure_array((charts["line"],), DARK, 300, 200)
    with matplotlib.rc_context({"text.usetex": True, "lines.linestyle": ":", "axes.facecolor": "red"}):
        assert (figure_array((charts["line"],), DARK, 300, 200) == plain).all()
        assert matplotlib.rcParams["text.usetex"]


LONG = tuple(f"encoder_backbone.stage_{k}.a_very_long_intermediate_projection_layer_name" for k in range(4))
MANY = tuple(f"blocks.{k}.linear" for k in range(300))


@pytest.mark.parametrize("layers", [LONG, MANY])
@pytest.mark.parametrize("kind", [BarChart, MapChart])
def test_that_names_of_layers_neither_overlap_nor_take_the_room_of_the_values(
    layers: tuple[str, ...], kind: type[Chart]
) -> None:
    bars = BarChart("bars", tuple(Bar(name, 0.5, "50 %") for name in layers))
    cells = np.full((len(layers), 3), 0.5)
    columns = ("a.pt", "b.pt", "c.pt")
    chart = bars if kind is BarChart else MapChart("map", layers, columns, cells, np.full(cells.shape, ""))
    with drawn((chart,), LIGHT, 800, 540) as figure:
        figure.canvas.draw()
        axes = figure.axes[0]
        assert axes.get_window_extent().width > 0.45 * figure.bbox.width
        named = [label.get_window_extent() for label in axes.get_yticklabels() if label.get_text()]
        assert len(named) > 3
        assert all(not one.overlaps(other) for one, other in pairwise(named))
        texts = [text.get_window_extent() for text in axes.texts]
        assert all(not one.overlaps(other) for one, other in pairwise(texts))


def test_that_names_in_a_script_that_no_font_holds_warn_nobody(tmp_path: Path) -> None:
    chart = BarChart("bars", (Bar("überlänge_头_\U000105d0", 0.5, "50 %"),))  # Todhri: in no usual font
    assert save_figure((chart,), tmp_path / "a.png", LIGHT, 400, 300).stat().st_size > 0
