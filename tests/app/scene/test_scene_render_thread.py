from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSize
from PySide6.QtOpenGLWidgets import QOpenGLWidget
from PySide6.QtWidgets import QApplication
from scene_measures import structural_similarity
from shiboken6 import isValid

from landscope_app.scene import raster_canvas, render_thread
from landscope_app.scene.model import SceneState
from landscope_app.scene.offscreen import image_array, render_image
from landscope_app.scene.probe import offscreen_context, probe_gl
from landscope_app.scene.render_thread import Order, Picture, RenderThread, Studio
from landscope_app.scene.smoothing import PASSES
from landscope_app.scene.view import SurfaceView
from landscope_app.state.camera import RESET

pytestmark = pytest.mark.gl
MakeState = Callable[..., SceneState]
Wait = Callable[[Callable[[], bool]], None]


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[RenderThread]:
    """Every render thread that a view of this test makes."""
    made: list[RenderThread] = []

    def make() -> RenderThread:
        made.append(RenderThread())
        return made[-1]

    monkeypatch.setattr(raster_canvas, "RenderThread", make)
    return made


@pytest.fixture
def view(screen: QApplication, make_state: MakeState) -> Iterator[SurfaceView]:
    info = probe_gl()
    assert info is not None
    shown = SurfaceView(replace(info, software=True))
    shown.resize(480, 360)
    shown.set_state(make_state())
    shown.show()
    yield shown
    delete(shown)


def delete(view: SurfaceView) -> None:
    if not isValid(view):
        return
    view.close()
    view.deleteLater()
    QCoreApplication.sendPostedEvents(view, QEvent.Type.DeferredDelete)


def order_of(state: SceneState | None, **changes: object) -> Order:
    values: dict[str, object] = {
        "camera": RESET,
        "width": 320,
        "height": 240,
        "pixel": 1.0,
        "empty": "#204060",
    }
    return Order(state=state, **{**values, **changes})  # type: ignore[arg-type]


def test_that_turning_while_pictures_are_drawn_ends_in_the_last_camera(
    view: SurfaceView, make_state: MakeState, wait_until: Wait
) -> None:
    for k in range(40):
        view.set_camera(RESET.orbit(9.0 * k, 0.0))
        QApplication.processEvents()
    last = RESET.orbit(123.0, 20.0)
    view.set_camera(last)
    wait_until(lambda: view.smoothing_passes() == PASSES)
    expected = image_array(render_image(make_state(), last, 480, 360))
    assert structural_similarity(image_array(view.image()), expected) > 0.97


def test_that_no_widget_of_the_view_draws_with_opengl(view: SurfaceView) -> None:
    assert view.findChildren(QOpenGLWidget) == []


def test_that_a_view_deleted_while_it_draws_ends_its_thread(
    threads: list[RenderThread], view: SurfaceView
) -> None:
    view.set_camera(RESET.orbit(30, 0))
    assert len(threads) == 1 and threads[0].isRunning()
    delete(view)
    assert threads[0].isFinished()


def test_that_a_view_that_was_never_shown_has_no_thread(
    threads: list[RenderThread], screen: QApplication, make_state: MakeState
) -> None:
    info = probe_gl()
    assert info is not None
    hidden = SurfaceView(replace(info, software=True))
    hidden.set_state(make_state())
    hidden.set_camera(RESET.orbit(30, 0))
    delete(hidden)
    assert threads == []


def test_that_a_resized_view_gets_a_picture_of_its_device_pixels(view: SurfaceView, wait_until: Wait) -> None:
    view.resize(601, 333)
    ratio = view.devicePixelRatioF()
    wait_until(lambda: view.image().size() == QSize(round(601 * ratio), round(333 * ratio)))
    assert view.image().devicePixelRatio() == ratio


def test_that_orders_that_were_not_begun_are_forgotten(
    screen: QApplication, make_state: MakeState, wait_until: Wait
) -> None:
    thread = RenderThread()
    taken: list[Picture] = []

    def take() -> bool:
        picture = thread.take_picture()
        taken.extend([picture] if picture is not None else [])
        return bool(taken) and taken[-1].order is orders[-1]

    orders = [order_of(make_state(), camera=RESET.orbit(k, 0)) for k in range(50)]
    thread.start()
    for order in orders:
        thread.draw(order)
    wait_until(take)
    thread.finish()
    assert len(taken) < 25
    assert thread.isFinished()


def test_that_smoothing_is_broken_off_by_a_newer_order(screen: QApplication, make_state: MakeState) -> None:
    made = offscreen_context()
    assert made is not None
    studio = Studio()
    resting = order_of(make_state(), resting=True)
    asked = iter([False, True])
    assert [p.passes for p in studio.pictures(resting, lambda: next(asked))] == [1]
    assert [p.passes for p in studio.pictures(resting, lambda: False)] == [1, PASSES]
    assert [p.passes for p in studio.pictures(replace(resting, resting=False), lambda: True)] == [0]
    studio.release()
    made[0].doneCurrent()
    made[1].destroy()


def test_that_a_larger_pixel_ratio_gives_a_finer_picture_of_the_same_view(
    screen: QApplication, make_state: MakeState, wait_until: Wait
) -> None:
    thread = RenderThread()
    pictures: list[Picture] = []
    thread.picture_ready.connect(lambda: pictures.append(thread.take_picture()))  # type: ignore[arg-type]
    thread.start()
    thread.draw(order_of(make_state(), pixel=1.5, resting=True))
    wait_until(lambda: bool(pictures) and pictures[-1].passes == PASSES)
    thread.finish()
    seen = pictures[-1].image
    assert (seen.width(), seen.height(), seen.devicePixelRatio()) == (480, 360, 1.5)
    expected = image_array(render_image(make_state(), RESET, 480, 360, scale=1.5))
    assert structural_similarity(image_array(seen), expected) > 0.97


def test_that_nothing_to_show_is_the_window_s_colour(screen: QApplication, wait_until: Wait) -> None:
    thread = RenderThread()
    pictures: list[Picture] = []
    thread.picture_ready.connect(lambda: pictures.append(thread.take_picture()))  # type: ignore[arg-type]
    thread.start()
    thread.draw(order_of(None))
    wait_until(lambda: bool(pictures))
    thread.finish()
    assert np.unique(image_array(pictures[0].image).reshape(-1, 4), axis=0).tolist() == [[32, 64, 96, 255]]


def test_that_a_lost_opengl_is_told_in_a_sentence(
    screen: QApplication, monkeypatch: pytest.MonkeyPatch, make_state: MakeState
) -> None:
    info = probe_gl()
    assert info is not None
    monkeypatch.setattr(render_thread, "offscreen_context", lambda: None)
    shown = SurfaceView(replace(info, software=True))
    sentences: list[str] = []
    shown.failed.connect(sentences.append)
    shown.set_state(make_state())
    shown.show()
    assert len(sentences) == 1 and "OpenGL 3.3" in sentences[0]
    shown.set_camera(RESET.orbit(1, 0))
    assert len(sentences) == 1
    delete(shown)
