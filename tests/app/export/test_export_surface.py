from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_session import RUNS, fake_session, names
from PIL import Image
from PySide6.QtWidgets import QApplication

from landscope.contract.errors import LandscopeError
from landscope_app.export.surface import save_surface, surface_image
from landscope_app.plots.landscape_chart import Display
from landscope_app.scene.offscreen import image_array
from landscope_app.state.camera import RESET
from landscope_app.theme.colors import DARK
from landscope_app.views.shown_planes import Look, Shown, prepare, shown_scenes

pytestmark = pytest.mark.gl
LOOK = Look(DARK, RESET, names()[3])
IDS = tuple(f"{run}-trajectory" for run in RUNS)


@pytest.fixture(scope="module")
def one() -> Shown:
    shown = prepare(fake_session(), IDS[:1], Display())
    assert shown is not None
    return shown


@pytest.fixture(scope="module")
def both() -> Shown:
    shown = prepare(fake_session(), IDS, Display())
    assert shown is not None
    return shown


def _background() -> tuple[int, ...]:
    return tuple(bytes.fromhex(DARK.panel[1:]))


def test_that_the_surface_is_a_png_of_the_size_asked(
    application: QApplication, one: Shown, tmp_path: Path
) -> None:
    path = save_surface(one, LOOK, tmp_path / "surface.png", 500, 375)
    with Image.open(path) as image:
        assert image.size == (500, 375)
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert tuple(pixels[-1, 0]) == pytest.approx(_background(), abs=2)
    assert (np.ptp(pixels, axis=2) > 60).mean() > 0.05


def test_that_a_transparent_surface_has_an_empty_corner(application: QApplication, one: Shown) -> None:
    pixels = image_array(surface_image(one, LOOK, 400, 300, transparent=True))
    assert pixels[-1, 0, 3] == 0
    assert pixels[150, 200, 3] == 255


def test_that_two_surfaces_share_heights_and_colours(application: QApplication, both: Shown) -> None:
    first, second = shown_scenes(both, LOOK)
    assert first.colour_range == second.colour_range
    assert first.box.low[2] == second.box.low[2]
    assert first.box.high[2] == second.box.high[2]
    pixels = image_array(surface_image(both, LOOK, 800, 300)).astype(int)
    assert pixels.shape == (300, 800, 4)
    coloured = np.ptp(pixels[..., :3], axis=2) > 60
    assert coloured[:, :400].any()
    assert coloured[:, 400:].any()


def test_that_the_camera_changes_the_picture(application: QApplication, one: Shown) -> None:
    front = image_array(surface_image(one, LOOK, 300, 220)).astype(int)
    turned = replace(LOOK, camera=RESET.orbit(60, 10))
    assert np.abs(image_array(surface_image(one, turned, 300, 220)).astype(int) - front).mean() > 3


def test_that_a_surface_is_no_vector_picture(one: Shown, tmp_path: Path) -> None:
    with pytest.raises(LandscopeError, match="contour map"):
        save_surface(one, LOOK, tmp_path / "surface.svg", 400, 300)
