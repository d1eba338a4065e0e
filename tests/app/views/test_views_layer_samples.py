"""The samples of the selected layer in the saturation panel."""

import numpy as np
import pytest
from fake_session import LAYERS, fake_session, names
from msgspec.structs import replace
from qt_application import Keep

from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK
from landscope_app.views.saturation import SaturationView

HEAD = LAYERS[-1]


@pytest.fixture
def view(keep: Keep) -> SaturationView:
    document, selection = Document(fake_session()), Selection()
    selection.settle(document.session)
    made = SaturationView(document, selection, DARK)
    keep(made)
    made.resize(340, 620)
    made.show()
    selection.set(layer=HEAD)
    made.refresh_now()
    return made


def test_that_a_button_shows_the_samples_and_another_press_the_spectrum(view: SaturationView) -> None:
    panel = view.spectrum
    assert panel.spectrum.isVisible() and not panel.samples.isVisible()
    panel.samples_button.click()
    view.refresh_now()
    assert view.selection.layer_view == "samples"
    assert panel.samples.isVisible() and not panel.spectrum.isVisible()
    assert not panel.share.isVisible()  # samples have no threshold
    assert HEAD in panel.samples.chart.title
    panel.samples_button.click()
    view.refresh_now()
    assert panel.spectrum.isVisible() and panel.share.isVisible()


def test_that_samples_follow_checkpoint_and_layer_on_axes_that_stay(view: SaturationView) -> None:
    view.spectrum.samples_button.click()
    view.refresh_now()
    last = view.spectrum.samples.chart
    view.selection.set(checkpoint=names()[1])
    view.refresh_now()
    now = view.spectrum.samples.chart
    assert names()[1] in now.title
    assert now.limits == last.limits
    assert not np.array_equal(now.points, last.points)
    view.selection.set(layer=LAYERS[0])
    view.refresh_now()
    assert len(view.spectrum.samples.chart.points) == 512


def test_that_a_session_without_samples_says_what_to_do(view: SaturationView) -> None:
    for saturation in view.document.session.saturation.values():
        for name, one in saturation.measured.items():
            bare = (replace(x, embedding=x.embedding[:0], labels=x.labels[:0]) for x in one.layers)
            saturation.measured[name] = replace(
                one, layers=tuple(replace(x, items=x.items[:0]) for x in bare)
            )
    view.spectrum.samples_button.click()
    view.refresh_now()
    assert view.spectrum.hint.isVisible()
    assert "measure the saturation again" in view.spectrum.hint.text()


def test_that_a_strange_view_in_a_session_shows_the_spectrum(view: SaturationView) -> None:
    view.selection.set(layer_view="nonsense")
    view.refresh_now()
    assert view.spectrum.spectrum.isVisible()
