from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QOpenGLContext
from PySide6.QtWidgets import QApplication
from scene_measures import near, structural_similarity

from landscope_app.scene import offscreen
from landscope_app.scene.model import DARK, LIGHT, SceneState
from landscope_app.scene.offscreen import NoOpenGLError, OffscreenRenderer, image_array, render_image
from landscope_app.scene.probe import offscreen_context
from landscope_app.scene.surface import colour_table
from landscope_app.state.camera import PRESETS, RESET

pytestmark = pytest.mark.gl
MakeState = Callable[..., SceneState]
TOP = PRESETS["top"]
BARE = {"show_axes": False, "show_colour_bar": False, "contour_count": 0}


def draw(renderer: OffscreenRenderer, state: SceneState, camera=RESET, size=(240, 180), **options):  # type: ignore[no-untyped-def]
    return image_array(renderer.image(state, camera, *size, **options))


def flat(make_state: MakeState, value: float = 0.5, **changes: object) -> SceneState:
    heights = np.full((41, 45), value, np.float32)
    return make_state(**{"z": heights, "colour_limits": (0.0, 1.0), **BARE, **changes})


@pytest.mark.parametrize("value", [0.0, 0.25, 0.5, 1.0])
def test_that_a_height_has_the_colour_of_the_map_under_the_lamp(
    renderer: OffscreenRenderer, make_state: MakeState, value: float
) -> None:
    picture = draw(renderer, flat(make_state, value), TOP)
    seen = picture[90, 120, :3].astype(float)
    wanted = colour_table("viridis")[round(value * 1023), :3].astype(float)
    brightness = seen.sum() / wanted.sum()
    assert 0.75 < brightness < 1.3
    assert np.abs(seen / brightness - wanted).max() < 16  # the sheen adds a little white


@pytest.mark.parametrize("hole", [np.nan, np.inf])
def test_that_a_hole_shows_the_background_and_nothing_else_does(
    renderer: OffscreenRenderer, make_state: MakeState, hole: float
) -> None:
    z = np.full((41, 45), 0.5, np.float32)
    z[16:25, 18:27] = hole
    picture = draw(renderer, flat(make_state, z=z), TOP)
    whole = draw(renderer, flat(make_state), TOP)
    assert near(picture, DARK.background, 1)[90, 120]
    assert not near(whole, DARK.background, 40)[90, 120]
    missing = near(picture, DARK.background, 1) & ~near(whole, DARK.background, 1)
    assert missing.sum() / (~near(whole, DARK.background, 1)).sum() == pytest.approx(
        10 * 10 / (40 * 44), abs=0.01
    )


def test_that_a_surface_of_holes_alone_is_an_empty_box(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    picture = draw(renderer, flat(make_state, np.nan), TOP)
    assert near(picture, DARK.background, 1).all()


def test_that_contour_lines_stand_at_their_values(renderer: OffscreenRenderer, make_state: MakeState) -> None:
    ramp = np.repeat(np.linspace(0, 1, 41, dtype=np.float32)[:, None], 45, axis=1)
    lined = flat(make_state, z=ramp, contour_count=10)
    row = draw(renderer, lined, TOP, (600, 450))[225, :, :3].astype(float).sum(axis=1)
    plain = (
        draw(renderer, replace(lined, contour_count=0), TOP, (600, 450))[225, :, :3].astype(float).sum(axis=1)
    )
    dark = row < 0.85 * plain
    starts = np.flatnonzero(dark & ~np.roll(dark, 1))
    on_surface = np.flatnonzero(plain > 3 * 40)
    low, high = on_surface[0], on_surface[-1]
    values = (starts - low) / (high - low)
    assert values[(values > 0.05) & (values < 0.95)] == pytest.approx(np.arange(0.1, 0.95, 0.1), abs=0.01)


def test_that_the_path_and_its_current_checkpoint_can_be_seen(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    path = np.array([[-0.8, -1.5, np.nan], [0.0, 0.5, np.nan], [0.7, 1.4, np.nan]])
    state = make_state(path=path, current=1, show_axes=False, show_colour_bar=False)
    picture = draw(renderer, state, TOP, (640, 480))
    assert near(picture, DARK.path).sum() > 100
    assert near(picture, DARK.marker).sum() > 40
    with_accent = near(picture, DARK.accent).sum()
    assert with_accent > 40
    assert (
        near(draw(renderer, replace(state, current=None), TOP, (640, 480)), DARK.accent).sum()
        < with_accent / 4
    )
    assert near(draw(renderer, replace(state, path=None), TOP, (640, 480)), DARK.path).sum() == 0


def test_that_a_path_behind_the_surface_is_fainter_but_not_gone(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    wall = np.where(np.abs(np.linspace(-2, 2, 45)) < 0.3, 1.0, 0.0)[None, :] * np.ones((41, 1))
    path = np.array([[-0.8, 1.5, 0.1], [0.8, 1.5, 0.1]])
    state = make_state(z=wall.astype(np.float32), path=path, drape=False, **BARE)
    behind, before = (
        draw(renderer, s, PRESETS["front"], (400, 300))
        for s in (state, replace(state, path=path * [1, -1, 1]))
    )
    without = draw(renderer, replace(state, path=None), PRESETS["front"], (400, 300))
    faint = np.abs(behind.astype(int) - without.astype(int)).sum(axis=2)
    clear = np.abs(before.astype(int) - without.astype(int)).sum(axis=2)
    assert near(before, DARK.path).sum() > 100
    assert near(behind, DARK.path).sum() == 0
    assert 0.05 < faint.sum() / clear.sum() < 0.5


def test_that_what_lies_outside_the_height_limits_is_cut_off(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    ramp = np.repeat(np.linspace(0, 1, 41, dtype=np.float32)[:, None], 45, axis=1)
    whole = flat(make_state, z=ramp)
    shares = [
        (~near(draw(renderer, replace(whole, z_limits=limits), TOP), DARK.background, 1)).mean()
        for limits in ((-0.1, 1.1), (-0.1, 0.5))
    ]
    assert shares[1] / shares[0] == pytest.approx(0.5, abs=0.03)


def test_that_a_transparent_picture_over_the_background_is_the_opaque_one(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    path = np.array([[-0.8, -1.5, np.nan], [0.7, 1.4, np.nan]])
    # Qt blends the outlines of OpenType fonts such as the bundled Inter with the colour below them, which a
    # transparent picture does not know: a TrueType font is compared.
    state = make_state(
        path=path,
        show_floor=True,
        theme=replace(LIGHT, wall=LIGHT.background),
        font_family="DejaVu Sans",
    )
    clear = draw(renderer, state, transparent=True)
    opaque = draw(renderer, state)
    assert clear[0, 0].tolist() == [0, 0, 0, 0]
    assert (clear[..., 3] == 255).any() and (opaque[..., 3] == 255).all()
    alpha = clear[..., 3:].astype(float) / 255
    over_white = clear[..., :3] * alpha + 255 * (1 - alpha)
    assert np.abs(over_white - opaque[..., :3]).max() <= 4
    walled = draw(renderer, replace(state, theme=LIGHT), transparent=True)
    assert np.array_equal(walled, clear)


def test_that_a_larger_scale_draws_the_same_picture_with_more_pixels(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    state = make_state(path=np.array([[-0.8, -1.5, np.nan], [0.7, 1.4, np.nan]]))
    once = renderer.image(state, RESET, 320, 240)
    twice = renderer.image(state, RESET, 640, 480, scale=2.0)
    assert twice.size() == QSize(640, 480)
    small = image_array(twice).reshape(240, 2, 320, 2, 4).mean(axis=(1, 3)).astype(np.uint8)
    assert structural_similarity(small, image_array(once)) > 0.9
    unscaled = image_array(renderer.image(state, RESET, 640, 480))
    assert structural_similarity(image_array(twice), unscaled) < 0.9


def test_that_both_themes_paint_their_own_background(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    for theme in (DARK, LIGHT):
        assert near(draw(renderer, make_state(theme=theme)), theme.background, 1)[0, 0]


def test_that_labels_and_colour_bar_are_painted_and_can_be_left_out(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    state = make_state()
    shown = draw(renderer, state, size=(500, 380))
    bar = shown[100:280, 500 - 96 + 14 + 2 : 500 - 96 + 14 + 10, :3].reshape(-1, 3)
    assert len(np.unique(bar, axis=0)) > 100
    assert near(shown, DARK.title, 60).sum() > 30
    bare = draw(renderer, replace(state, show_axes=False, show_colour_bar=False), size=(500, 380))
    assert near(bare, DARK.title, 60).sum() == 0


def test_that_edges_are_smooth(renderer: OffscreenRenderer, make_state: MakeState) -> None:
    picture = draw(renderer, flat(make_state), TOP.orbit(20, 0))
    covered = np.abs(picture[..., 1].astype(int) - int(picture[90, 120, 1])) > 3
    between = covered & ~near(picture, DARK.background, 2)
    assert between.sum() > 100


@pytest.mark.long
def test_that_a_picture_of_4k_can_be_drawn(renderer: OffscreenRenderer, make_state: MakeState) -> None:
    picture = draw(renderer, make_state(n=21), size=(3840, 2160), scale=3.0)
    assert picture.shape == (2160, 3840, 4)
    assert near(picture, DARK.background, 1)[0, 0]
    assert not near(picture, DARK.background, 30)[1080, 1800]


def test_that_a_picture_too_large_for_the_driver_is_refused_in_a_sentence(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    with pytest.raises(NoOpenGLError, match="100000 × 10 pixels is larger"):
        renderer.image(make_state(), RESET, 100_000, 10)
    assert not renderer.image(make_state(), RESET, 64, 48).isNull()


def test_that_new_heights_replace_the_old_ones_and_holes_close_again(
    renderer: OffscreenRenderer, make_state: MakeState
) -> None:
    first = flat(make_state)
    pictures: list[npt.NDArray[np.uint8]] = []
    for value in (0.2, np.nan, 0.8, 0.2):
        pictures.append(draw(renderer, replace(first, z=np.full((41, 45), value, np.float32)), TOP))
    assert np.array_equal(pictures[0], pictures[3])
    assert not np.array_equal(pictures[0], pictures[2])
    larger = make_state(n=61)
    assert not np.array_equal(draw(renderer, larger), draw(renderer, first))


def test_that_the_picture_without_a_display_equals_the_one_through_the_screen(
    screen: QApplication, make_state: MakeState, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = make_state(path=np.array([[-0.8, -1.5, np.nan], [0.7, 1.4, np.nan]]), current=0, show_floor=True)
    through_screen = image_array(render_image(state, RESET, 480, 360))

    def refuse() -> None:
        raise OSError("not now")

    monkeypatch.setattr(offscreen, "_QtContext", refuse)
    without_display = image_array(render_image(state, RESET, 480, 360))
    assert structural_similarity(through_screen, without_display) >= 0.99
    assert np.abs(through_screen.astype(int) - without_display).mean() < 1.0


def test_that_the_window_s_context_is_current_again_afterwards(
    screen: QApplication, make_state: MakeState
) -> None:
    made = offscreen_context()
    assert made is not None
    context, surface = made
    render_image(make_state(), RESET, 64, 48)
    assert QOpenGLContext.currentContext() is context
    context.doneCurrent()
    surface.destroy()


def test_that_without_any_opengl_there_is_one_sentence(
    application: QApplication, make_state: MakeState, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError("nothing here")

    monkeypatch.setattr(offscreen, "_QtContext", refuse)
    monkeypatch.setattr(offscreen, "EglContext", refuse)
    with pytest.raises(NoOpenGLError, match="heat map") as caught:
        render_image(make_state(), RESET, 64, 48)
    assert caught.value.detail == "nothing here"
