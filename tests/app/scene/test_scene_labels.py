from collections.abc import Callable
from itertools import combinations

import pytest

from landscope_app.scene.frame import Frame, Insets
from landscope_app.scene.labels import place_labels
from landscope_app.scene.model import SceneState
from landscope_app.state.camera import PRESETS, RESET, Camera

MakeState = Callable[..., SceneState]
SIZES = [(800, 600), (340, 620), (1400, 420), (240, 180)]


def measure(text: str, bold: bool) -> tuple[float, float]:
    return 7.0 * len(text) + 1.0, 15.0


def labels_of(state: SceneState, camera: Camera, size: tuple[int, int]):  # type: ignore[no-untyped-def]
    width, height = size
    return place_labels(state, Frame(camera, width, height, 1.0, Insets.of(state, width, height)), measure)


@pytest.mark.parametrize("size", SIZES)
def test_that_labels_are_never_cut_off_and_never_overlap(
    make_state: MakeState, size: tuple[int, int]
) -> None:
    state = make_state(title_x="direction α (explained 78.4 %)")
    for azimuth in range(-180, 180, 30):
        for elevation in (-90, -40, 0, 25, 70, 90):
            labels = labels_of(state, Camera(azimuth=azimuth, elevation=elevation), size)
            for label in labels:
                assert label.width / 2 <= label.x <= size[0] - label.width / 2
                assert label.height / 2 <= label.y <= size[1] - label.height / 2
            assert not any(a.overlaps(b) for a, b in combinations(labels, 2))


def test_that_the_ordinary_view_names_all_three_axes_with_ticks(make_state: MakeState) -> None:
    labels = labels_of(make_state(), RESET, (800, 600))
    assert {label.text for label in labels if label.title} == {"α", "β", "loss"}
    assert sum(not label.title for label in labels) >= 10


def test_that_an_axis_seen_end_on_has_no_labels(make_state: MakeState) -> None:
    titles = {label.text for label in labels_of(make_state(), PRESETS["front"], (800, 600)) if label.title}
    assert titles == {"α", "loss"}
    titles = {label.text for label in labels_of(make_state(), PRESETS["top"], (800, 600)) if label.title}
    assert titles == {"α", "β"}


def test_that_seen_from_above_x_reads_below_and_y_to_the_left(make_state: MakeState) -> None:
    labels = {
        label.text: label for label in labels_of(make_state(), PRESETS["top"], (800, 600)) if label.title
    }
    assert labels["α"].y > 400
    assert labels["β"].x < 250
