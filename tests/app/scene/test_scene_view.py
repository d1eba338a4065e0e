from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow
from scene_measures import near, structural_similarity

from landscope_app.scene.model import DARK, SceneState
from landscope_app.scene.offscreen import image_array, render_image
from landscope_app.scene.probe import probe_gl
from landscope_app.scene.smoothing import PASSES
from landscope_app.scene.view import SurfaceView
from landscope_app.state.camera import PRESETS, RESET, Camera

pytestmark = pytest.mark.gl
MakeState = Callable[..., SceneState]
Wait = Callable[[Callable[[], bool]], None]


@pytest.fixture(params=["widget", "thread"])
def view(
    request: pytest.FixtureRequest, screen: QApplication, make_state: MakeState, wait_until: Wait
) -> Iterator[SurfaceView]:
    """A view that draws with OpenGL itself, and one whose pictures come from a render thread."""
    info = probe_gl()
    assert info is not None
    shown = SurfaceView(replace(info, software=request.param == "thread"))
    shown.resize(480, 360)
    shown.set_state(make_state())
    shown.show()
    wait_until(lambda: shown.frames_painted > 0)
    yield shown
    shown.close()
    shown.deleteLater()
    screen.processEvents()


def test_that_the_view_shows_what_an_exported_picture_shows(
    view: SurfaceView, make_state: MakeState, wait_until: Wait
) -> None:
    state = make_state(path=np.array([[-0.8, -1.5, np.nan], [0.7, 1.4, np.nan]]))
    view.set_state(state)
    wait_until(lambda: view.smoothing_passes() == PASSES)
    seen = image_array(view.image())
    exported = image_array(render_image(state, RESET, 480, 360))
    assert structural_similarity(seen, exported) > 0.97
    # The texts are drawn by another painter there; torn glyphs would show here.
    labels = near(exported, DARK.text, 60) | near(exported, DARK.title, 60)
    rows, columns = np.flatnonzero(labels.any(axis=1)), np.flatnonzero(labels.any(axis=0))
    bar = slice(480 - 70, 480)
    assert rows.size and columns.size
    assert structural_similarity(seen[:, bar], exported[:, bar]) > 0.95


def test_that_a_resting_view_stops_painting_after_smoothing(view: SurfaceView, wait_until: Wait) -> None:
    wait_until(lambda: view.smoothing_passes() == PASSES)
    painted = view.frames_painted
    QApplication.processEvents()
    assert view.frames_painted <= painted + 1
    view.set_camera(RESET.orbit(10, 0))
    assert view.smoothing_passes() == 0


def test_that_many_updates_between_two_pictures_cost_one_picture(
    view: SurfaceView, make_state: MakeState, wait_until: Wait
) -> None:
    wait_until(lambda: view.smoothing_passes() == PASSES)
    painted = view.frames_painted
    for k in range(200):
        view.set_state(make_state(contour_count=k))
    wait_until(lambda: view.frames_painted > painted)
    assert view.frames_painted <= painted + 3


def test_that_dragging_turns_and_right_dragging_moves(view: SurfaceView) -> None:
    cameras: list[Camera] = []
    view.camera_changed.connect(cameras.append)
    view.mousePressEvent(_mouse(view, QPoint(200, 200), Qt.MouseButton.LeftButton))
    view.mouseMoveEvent(_mouse(view, QPoint(250, 180), Qt.MouseButton.LeftButton))
    assert cameras[-1].azimuth == pytest.approx(RESET.azimuth - 20.0)
    assert cameras[-1].elevation == pytest.approx(RESET.elevation - 8.0)
    assert cameras[-1].target == RESET.target
    view.mousePressEvent(_mouse(view, QPoint(200, 200), Qt.MouseButton.RightButton))
    before = view.scene().frame.on_screen(np.array(RESET.target))
    view.mouseMoveEvent(_mouse(view, QPoint(230, 190), Qt.MouseButton.RightButton))
    after = view.scene().frame.on_screen(np.array(RESET.target))
    assert after - before == pytest.approx([30, -10], abs=1.0)


def test_that_the_wheel_comes_closer(view: SurfaceView) -> None:
    event = QWheelEvent(
        QPointF(200, 150),
        QPointF(200, 150),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    view.wheelEvent(event)
    assert view.camera().distance < RESET.distance


@pytest.mark.parametrize(
    ("key", "name"), [("1", "front"), ("3", "side"), ("7", "top"), ("9", "diagonal"), ("0", "reset")]
)
def test_that_the_number_keys_fly_to_the_presets(
    view: SurfaceView, wait_until: Wait, key: str, name: str
) -> None:
    view.set_camera(RESET.orbit(77, 11))
    QTest.keyClicks(view, key)
    wait_until(lambda: view.camera() == PRESETS[name])


def test_that_five_toggles_the_projection(view: SurfaceView) -> None:
    QTest.keyClicks(view, "5")
    assert view.camera() == RESET.toggled_projection()


def test_that_hovering_reports_the_surface_and_then_nothing(view: SurfaceView, wait_until: Wait) -> None:
    seen: list[object] = []
    view.hovered.connect(seen.append)
    view.mouseMoveEvent(_mouse(view, QPoint(210, 200), Qt.MouseButton.NoButton))
    wait_until(lambda: len(seen) == 1)
    assert seen[0] == view.scene().pick(210, 200) is not None
    view.mouseMoveEvent(_mouse(view, QPoint(2, 2), Qt.MouseButton.NoButton))
    wait_until(lambda: len(seen) == 2)
    assert seen[1] is None


def test_that_a_double_click_brings_the_point_to_the_middle(view: SurfaceView, wait_until: Wait) -> None:
    point = view.scene().pick(150, 150)
    assert point is not None and view.scene().state is not None
    view.mouseDoubleClickEvent(_mouse(view, QPoint(150, 150), Qt.MouseButton.LeftButton))
    wait_until(lambda: view.camera().target != RESET.target)
    wanted = view.scene().state.box.to_world(np.array(point))
    wait_until(lambda: bool(np.allclose(view.camera().target, wanted)))


def test_that_clicking_a_marker_tells_which_checkpoint(view: SurfaceView, make_state: MakeState) -> None:
    path = np.array([[-0.5, -1.0, np.nan], [0.0, 0.0, np.nan], [0.4, 1.0, np.nan]])
    view.set_state(make_state(path=path))
    clicked: list[object] = []
    view.checkpoint_clicked.connect(clicked.append)
    state = view.scene().state
    assert state is not None
    px, py = view.scene().frame.on_screen(state.box.to_world(np.array([0.0, 0.0, 0.3])))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(round(px), round(py)))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert clicked == [1]


def test_that_the_scene_survives_a_move_to_another_window(
    view: SurfaceView, make_state: MakeState, wait_until: Wait
) -> None:
    other = QMainWindow()
    other.setCentralWidget(view)
    other.resize(500, 400)
    other.show()
    painted = view.frames_painted
    view.set_state(make_state(show_axes=False, show_colour_bar=False))
    wait_until(lambda: view.frames_painted > painted + 1)
    picture = image_array(view.image())
    assert (~near(picture, DARK.background, 10)).mean() > 0.1
    other.takeCentralWidget().setParent(None)
    other.close()
    other.deleteLater()


def test_that_a_scene_that_cannot_be_drawn_says_so_and_does_not_crash(
    view: SurfaceView, make_state: MakeState, wait_until: Wait
) -> None:
    sentences: list[str] = []
    view.failed.connect(sentences.append)
    view.set_state(make_state(colour_map="no-such-map"))
    wait_until(lambda: len(sentences) == 1)
    assert "no-such-map" in sentences[0]


def _mouse(view: SurfaceView, at: QPoint, button: Qt.MouseButton):  # type: ignore[no-untyped-def]
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QMouseEvent

    kind = QEvent.Type.MouseMove if button == Qt.MouseButton.NoButton else QEvent.Type.MouseButtonPress
    place = QPointF(at)
    return QMouseEvent(
        kind, place, QPointF(view.mapToGlobal(at)), button, button, Qt.KeyboardModifier.NoModifier
    )
