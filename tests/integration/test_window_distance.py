"""The distance panel in the window, with distances from the real engine."""

import numpy as np
import pytest

pytestmark = pytest.mark.gl
RUN = "run"


@pytest.fixture
def window(qapp, tmp_path, monkeypatch, real_project):
    from window_fakes import settle, wait_until

    from landscope_app.theme.colors import DARK
    from landscope_app.window import MainWindow
    from landscope_app.work.context import Context

    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))
    context = Context()
    made = MainWindow(context, DARK)
    made.resize(1280, 800)
    made.show()
    made.opener.show(real_project)
    wait_until(lambda: made.workspace is not None and made.workspace.isVisible())
    wait_until(lambda: _matrices(made) is not None, seconds=120)
    yield made
    made.close_now(discard=True)
    context.close()
    made.deleteLater()
    settle()


def _matrices(window):
    found = window.context.document.session.distances.get(RUN)
    return found.matrices if found is not None else None


def _panel(window):
    return window.docks.all["distance"].widget()


def test_that_every_view_of_the_panel_shows_what_the_engine_measured(window):
    from window_fakes import wait_until

    panel, selection = _panel(window), window.context.selection
    distances = window.context.document.session.distances[RUN]
    names = window.context.document.session.runs[RUN].names
    selection.set(distance="map")
    wait_until(lambda: panel.map.isVisible() and panel.map.canvas.chart.columns == names)
    np.testing.assert_array_equal(panel.map.canvas.chart.values.T, distances.layers("distance", names))
    selection.set(distance="matrix")
    wait_until(panel.matrix.isVisible)
    np.testing.assert_array_equal(panel.matrix.canvas.chart.values, distances.matrices.distance)
    selection.set(distance="table")
    wait_until(panel.table.isVisible)
    shown = panel.table.values.table.columns[0].values[0]
    assert shown == distances.measured[selection.checkpoint].total["distance"]


def test_that_the_view_of_distances_is_undone_and_kept_by_a_session(window):
    from window_fakes import wait_until

    panel, selection = _panel(window), window.context.selection
    window.history.reset()
    selection.set(distance="matrix", quantity="cosine", axes="x")
    window.history._settle()
    kept = window.view_state()
    assert kept["selection"]["distance"] == "matrix"
    window.history.undo()
    assert selection.chosen.distance == "curves"
    wait_until(panel.curves.isVisible)
    window.history.redo()
    assert selection.chosen.distance == "matrix"
    selection.set(distance="curves", quantity="norm", axes="")
    window.restore_view(kept)
    assert (selection.chosen.quantity, selection.chosen.axes) == ("cosine", "x")
    wait_until(panel.matrix.isVisible)
