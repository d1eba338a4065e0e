from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from landscope_app.scene.heightfield import height_at
from landscope_app.scene.model import SceneState
from landscope_app.scene.scene import SceneRenderer
from landscope_app.state.camera import PRESETS, RESET, Camera

MakeState = Callable[..., SceneState]


def renderer_of(state: SceneState, camera: Camera) -> SceneRenderer:
    scene = SceneRenderer()
    scene.set_state(state)
    scene.set_camera(camera)
    scene.resize(800, 600)
    return scene


@pytest.mark.parametrize(
    "camera", [PRESETS["top"], replace(RESET, elevation=65.0), RESET.toggled_projection().orbit(0, 40)]
)
def test_that_picking_a_point_of_the_surface_returns_its_coordinates(
    make_state: MakeState, camera: Camera
) -> None:
    state = make_state()
    scene = renderer_of(state, camera)
    rng = np.random.default_rng(3)
    u, v = rng.uniform(-0.6, 0.6, 25), rng.uniform(-1.2, 1.2, 25)
    points = np.stack([u, v, height_at(state.x, state.y, state.z, u, v)], axis=1)
    for point, (px, py) in zip(points, scene.frame.on_screen(state.box.to_world(points)), strict=True):
        picked = scene.pick(px, py)
        assert picked == pytest.approx(tuple(point), abs=2e-3)


def test_that_picking_beside_the_surface_or_in_a_hole_returns_nothing(make_state: MakeState) -> None:
    z = make_state().z.copy()
    z[15:26, 17:28] = np.nan
    scene = renderer_of(make_state(z=z), PRESETS["top"])
    px, py = scene.frame.on_screen(np.zeros(3))
    assert scene.pick(px, py) is None
    assert scene.pick(2, 2) is None
    assert renderer_of(make_state(), PRESETS["top"]).pick(px, py) is not None


def test_that_the_nearest_marker_within_reach_is_picked(make_state: MakeState) -> None:
    path = np.array([[-0.8, -1.5, np.nan], [0.0, 0.5, np.nan], [0.7, 1.4, np.nan]])
    scene = renderer_of(make_state(path=path), PRESETS["top"])
    assert scene.state is not None
    world = scene.state.box.to_world(np.array([0.0, 0.5, 0.3]))
    px, py = scene.frame.on_screen(world)
    assert scene.pick_checkpoint(px + 4, py) == 1
    assert scene.pick_checkpoint(px + 40, py) is None
    assert renderer_of(make_state(), RESET).pick_checkpoint(px, py) is None
