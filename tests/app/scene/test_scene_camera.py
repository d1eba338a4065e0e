import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscope_app.state.camera import PRESETS, RESET, Camera

ANGLES = st.floats(-180, 180)
ELEVATIONS = st.floats(-90, 90)


@settings(deadline=None)
@given(ANGLES, ELEVATIONS)
def test_that_the_view_is_a_rotation_everywhere_also_at_the_poles(azimuth: float, elevation: float) -> None:
    view = Camera(azimuth=azimuth, elevation=elevation).view()
    np.testing.assert_allclose(view[:3, :3] @ view[:3, :3].T, np.eye(3), atol=1e-12)
    assert np.linalg.det(view[:3, :3]) == pytest.approx(1.0)


def test_that_turning_over_the_pole_stops_there_and_still_turns_sideways() -> None:
    above = RESET.orbit(0, 500)
    assert above.elevation == 90.0
    turned = above.orbit(30, 0)
    assert turned.axes()[2] == pytest.approx([0, 0, 1], abs=1e-12)
    assert float(turned.axes()[0] @ above.axes()[0]) == pytest.approx(np.cos(np.radians(30)))


def test_that_front_shows_x_to_the_right_and_height_upwards() -> None:
    right, up, _ = PRESETS["front"].axes()
    assert right == pytest.approx([1, 0, 0], abs=1e-12)
    assert up == pytest.approx([0, 0, 1], abs=1e-12)


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("aspect", [0.4, 1.0, 2.5])
def test_that_the_box_lies_between_the_near_and_far_plane(orthographic: bool, aspect: float) -> None:
    camera = replace(RESET, orthographic=orthographic)
    corners = np.array([[x, y, z, 1] for x in (-1, 1) for y in (-1, 1) for z in (-0.62, 0.62)], float)
    clip = corners @ (camera.projection(aspect) @ camera.view()).T
    inside = clip[:, :3] / clip[:, 3:]
    assert (np.abs(inside) < 1).all()


def test_that_both_projections_show_the_target_at_the_same_size() -> None:
    sizes = []
    for camera in (RESET, RESET.toggled_projection()):
        right = np.asarray(camera.target) + 0.01 * camera.axes()[0]
        clip = camera.projection(1.5) @ camera.view() @ [*right, 1.0]
        sizes.append(clip[0] / clip[3])
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-6)


def test_that_a_camera_survives_being_stored_as_json() -> None:
    camera = RESET.orbit(33, -12).zoom(1.3).pan(0.1, 0.2).toggled_projection()
    assert Camera.from_dict(json.loads(json.dumps(camera.to_dict()))) == camera


@pytest.mark.parametrize(
    "values", [{"distance": float("nan")}, {"distance": -1.0}, {"fov": 500}, {"target": [1, 2]}]
)
def test_that_an_unusable_stored_camera_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="stored camera"):
        Camera.from_dict(values)


def test_that_a_turntable_is_even_and_closed() -> None:
    azimuths = np.array([c.azimuth for c in RESET.turntable(12)])
    steps = np.diff(np.append(azimuths, azimuths[0])) % 360
    assert steps == pytest.approx(np.full(12, 30.0))


def test_that_a_flight_takes_the_shorter_way_and_arrives() -> None:
    start, end = replace(RESET, azimuth=170.0), replace(RESET, azimuth=-170.0, orthographic=True)
    assert start.towards(end, 0.5).azimuth % 360 == pytest.approx(180.0)
    assert start.towards(end, 1.0) == end


def test_that_zooming_stays_within_bounds() -> None:
    assert 0 < RESET.zoom(1e9).distance < RESET.distance < RESET.zoom(1e-9).distance < 1e3
