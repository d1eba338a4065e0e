from collections.abc import Callable
from pathlib import Path

import pytest
from fake_session import RUNS, fake_session, names
from PIL import Image
from PySide6.QtWidgets import QApplication
from qt_application import Keep
from window_fakes import wait_until

from landscope.contract.errors import LandscopeError
from landscope.session.model import Session
from landscope_app.scene.probe import probe_gl
from landscope_app.state.camera import PRESETS
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK
from landscope_app.views.landscape import NO_GL, LandscapeView

Make = Callable[..., LandscapeView]


@pytest.fixture
def make(application: QApplication, keep: Keep) -> Make:
    def made(session: Session | None = None) -> LandscapeView:
        document, selection = Document(session or fake_session()), Selection()
        selection.settle(document.session)
        view = LandscapeView(document, selection, DARK)
        keep(view)
        view.resize(700, 500)
        return view

    return made


@pytest.fixture
def with_gl(application: QApplication) -> None:
    if probe_gl() is None:
        pytest.skip("no OpenGL on this screen: run under Xvfb")


@pytest.fixture
def without_gl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("landscope_app.scene.probe.probe_gl", lambda: None)


def test_that_without_opengl_the_map_is_shown_and_it_is_said_once(make: Make, without_gl: None) -> None:
    view = make()
    said: list[object] = []
    view.notice.connect(said.append)
    view.show_kind("surface")
    view.show()
    view.refresh_now()
    view.show_kind("surface")
    assert said == [NO_GL]
    assert view.kind == "contour"
    assert view.shown_page == "contour"


@pytest.mark.gl
def test_that_the_surface_is_shown_with_its_path_and_marker(make: Make, with_gl: None) -> None:
    view = make()
    view.show_kind("surface")
    view.show()
    view.refresh_now()
    assert view.shown_page == "surface"
    scene = view.surface_states()[0]
    assert scene.current == len(names()) - 1
    assert scene.path is not None
    view.selection.set(checkpoint=names()[2])
    wait_until(lambda: view.surface_states()[0].current == 2)


@pytest.mark.gl
def test_that_compared_surfaces_share_camera_and_colours(make: Make, with_gl: None) -> None:
    view = make()
    view.compare(f"{RUNS[1]}-trajectory")
    view.show_kind("surface")
    view.show()
    view.refresh_now()
    first, second = view.surface_states()
    assert first.colour_range == second.colour_range
    view.set_camera(PRESETS["top"])
    assert view.surface_cameras() == (PRESETS["top"], PRESETS["top"])


def test_that_compared_maps_share_colours(make: Make, without_gl: None) -> None:
    view = make()
    view.compare(f"{RUNS[1]}-trajectory")
    view.show_kind("contour")
    view.show()
    view.refresh_now()
    first, second = view.charts()
    assert first.limits == second.limits  # type: ignore[union-attr]


def test_that_an_empty_session_says_what_will_appear(make: Make, without_gl: None) -> None:
    view = make(Session())
    view.show()
    view.refresh_now()
    assert view.shown_page == "hint"
    assert "appears here" in view.hint.text()
    with pytest.raises(LandscopeError, match="no plane to export"):
        view.picture(300, 200)


def test_that_the_line_is_shown_with_its_barriers(make: Make) -> None:
    view = make()
    view.show_kind("line")
    view.show()
    view.refresh_now()
    assert view.shown_page == "line"
    assert "Frankle" in view.readout.whole


def test_that_hovering_writes_the_readout_and_leaving_brings_the_note_back(
    make: Make, without_gl: None
) -> None:
    view = make()
    view.show_kind("contour")
    view.show()
    view.refresh_now()
    note = view.readout.whole
    assert "289 of 289 points" in note
    view.contour_widgets()[0].hovered.emit((0.0, 0.0, 0.05))
    assert view.readout.whole.endswith("sampled")
    view.contour_widgets()[0].hovered.emit(None)
    assert view.readout.whole == note


def test_that_the_view_comes_back_as_it_was_left(make: Make, without_gl: None) -> None:
    view = make()
    view.show_kind("contour")
    view.set_camera(PRESETS["side"])
    view.bar.scale.setCurrentIndex(view.bar.scale.findData("log"))
    view.bar.colours.setCurrentIndex(view.bar.colours.findData("cividis"))
    view.compare(f"{RUNS[1]}-random")
    again = make()
    again.restore_view(view.view_state())
    assert again.view_state() == view.view_state()
    assert again.camera == PRESETS["side"]


@pytest.mark.parametrize(
    "broken", [{"camera": {"distance": float("nan")}}, {"camera": 3, "kind": "?"}, {"scale": 7}]
)
def test_that_a_broken_view_of_a_session_does_no_harm(
    make: Make, without_gl: None, broken: dict[str, object]
) -> None:
    view = make()
    view.restore_view(broken)
    view.show()
    view.refresh_now()


@pytest.mark.parametrize("kind", ["contour", "line"])
def test_that_what_is_shown_can_be_exported(make: Make, without_gl: None, kind: str, tmp_path: Path) -> None:
    view = make()
    view.show_kind(kind)  # type: ignore[arg-type]
    view.export_image(str(tmp_path / "shown.png"), 360, 240)
    with Image.open(tmp_path / "shown.png") as image:
        assert image.size == (360, 240)
    view.export_image(str(tmp_path / "shown.svg"), 360, 240)
    assert (tmp_path / "shown.svg").stat().st_size > 1000
    copied = view.picture(360, 240)
    assert (copied.width(), copied.height()) == (360, 240)


@pytest.mark.gl
def test_that_the_surface_can_be_exported_transparent(make: Make, with_gl: None, tmp_path: Path) -> None:
    view = make()
    view.show_kind("surface")
    view.export_image(str(tmp_path / "surface.png"), 360, 240, transparent=True)
    with Image.open(tmp_path / "surface.png") as image:
        assert image.getpixel((359, 239))[3] == 0  # type: ignore[index]


def test_that_choosing_another_plane_selects_its_run(make: Make, without_gl: None) -> None:
    view = make()
    view.show()
    view.refresh_now()
    view.bar.result_chosen.emit(f"{RUNS[1]}-random")
    assert (view.selection.run, view.selection.plane) == (RUNS[1], f"{RUNS[1]}-random")


def test_that_accuracy_can_be_drawn_as_height(make: Make, without_gl: None) -> None:
    view = make()
    view.show_kind("contour")
    view.show()
    view.refresh_now()
    view.bar.value.setCurrentIndex(view.bar.value.findData("accuracy"))
    assert view.selection.metric == "accuracy"
    assert view.charts()[0].value_title == "accuracy"  # type: ignore[union-attr]
