import pytest
from fake_session import LAYERS, fake_session
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget
from qt_application import Keep

from landscope.contract.errors import LandscopeError
from landscope_app.plots.charts import BarChart, CurveChart, MapChart
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK
from landscope_app.views.distance import DistanceView
from landscope_app.views.losses import LossView
from landscope_app.views.panel_in_use import PanelInUse
from landscope_app.views.saturation import SaturationView


class _Window(QWidget):
    """A field and the losses in the middle, two panels beside them."""

    def __init__(self, document: Document, selection: Selection) -> None:
        super().__init__()
        self.centre, self.field = QWidget(), QLineEdit()
        self.losses = LossView(document, selection, DARK)
        self.saturation = SaturationView(document, selection, DARK)
        self.distance = DistanceView(document, selection, DARK)
        middle = QHBoxLayout(self.centre)
        for part in (self.field, self.losses):
            middle.addWidget(part)
        layout = QHBoxLayout(self)
        for panel in (self.centre, self.saturation, self.distance):
            layout.addWidget(panel)
        self.in_use = PanelInUse(self.centre, lambda: self.losses, self)


@pytest.fixture
def window(keep: Keep) -> _Window:
    document, selection = Document(fake_session()), Selection()
    selection.settle(document.session)
    made = _Window(document, selection)
    keep(made)
    made.resize(1000, 600)
    made.show()
    made.activateWindow()
    return made


def _focus(window: _Window, part: QWidget) -> None:
    """As the application tells it, whether or not a window manager gives this window the focus."""
    window.in_use._follow(None, part)


def test_that_pictures_are_of_the_panel_that_was_used_last(window: _Window) -> None:
    assert window.in_use.view is window.losses
    _focus(window, window.distance.quantity)
    assert window.in_use.view is window.distance
    _focus(window, window.saturation.bars.canvas)
    assert window.in_use.view is window.saturation
    _focus(window, window.field)
    assert window.in_use.view is window.losses


def test_that_a_panel_that_was_closed_is_not_used_any_more(window: _Window) -> None:
    _focus(window, window.distance.quantity)
    window.distance.hide()
    assert window.in_use.view is window.losses


def test_that_the_part_of_the_panel_that_was_used_is_drawn(window: _Window) -> None:
    view = window.saturation
    view.selection.set(layer=LAYERS[2])
    view.refresh_now()
    _focus(window, view.spectrum.share)
    assert isinstance(view.charts()[0], CurveChart)
    assert LAYERS[2] in view.picture_title
    _focus(window, view.bars.canvas)
    assert isinstance(view.charts()[0], BarChart)
    view.selection.set(saturation="map")
    view.refresh_now()
    assert isinstance(view.charts()[0], MapChart)


def test_that_every_panel_is_drawn_at_any_size(window: _Window) -> None:
    for view in (window.losses, window.distance, window.saturation):
        assert view.picture(320, 240).size().toTuple() == (320, 240)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_that_a_panel_is_written_in_every_format(window: _Window, tmp_path, ending) -> None:  # type: ignore[no-untyped-def]
    window.saturation.export_image(str(tmp_path / f"a.{ending}"), 400, 300)
    head = (tmp_path / f"a.{ending}").read_bytes()[:200]
    assert {"png": b"PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending] in head


def test_that_an_empty_panel_says_why_there_is_no_picture(keep: Keep) -> None:
    view = SaturationView(Document(), Selection(), DARK)
    keep(view)
    with pytest.raises(LandscopeError, match="no picture of the saturation yet"):
        view.picture(300, 200)
