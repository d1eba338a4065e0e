from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from landscope_app.scene.frame import Frame, Insets
from landscope_app.scene.labels import place_checkpoint_label, place_labels
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


def test_that_the_current_checkpoint_is_named_beside_its_marker_and_nowhere_else(
    make_state: MakeState,
) -> None:
    path = np.array([[-0.5, -1.0, np.nan], [0.0, 0.0, np.nan]])
    state = make_state(path=path, path_labels=("epoch 0", "epoch 5"), current=1)
    frame = Frame(RESET, 800, 600, 1.0, Insets.of(state, 800, 600))
    axes = place_labels(state, frame, measure)
    label = place_checkpoint_label(state, frame, measure, axes)
    assert label is not None and label.text == "epoch 5"
    px, py = frame.on_screen(state.box.to_world(np.array([0.0, 0.0, 0.3])))
    assert 0 < abs(label.x - px) < label.width and abs(label.y - py) < 2 * label.height
    assert not any(label.overlaps(other) for other in axes)
    unnamed = make_state(path=path, current=1)
    assert place_checkpoint_label(unnamed, frame, measure, []) is None
    beyond = make_state(path=path, path_labels=("epoch 0", "epoch 5"), current=7)
    assert place_checkpoint_label(beyond, frame, measure, []) is None
