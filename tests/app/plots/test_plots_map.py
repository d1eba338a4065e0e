import numpy as np
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from qt_application import Keep

from landscope.session.model import Session
from landscope_app.plots.charts import MapChart
from landscope_app.plots.colour_maps import colour_table
from landscope_app.plots.map import MapCanvas
from landscope_app.plots.saturation_frame import UNSEEN
from landscope_app.plots.saturation_map import saturation_map
from landscope_app.theme.colors import DARK

RUN = RUNS[0]


def _canvas(keep: Keep, values: list[list[float]], row: str = "", column: str = "") -> MapCanvas:
    canvas = MapCanvas(DARK)
    keep(canvas)
    array = np.array(values)
    rows, columns = tuple("abc"[: len(values)]), tuple("xyz"[: len(values[0])])
    canvas.resize(400, 300)
    canvas.show_chart(MapChart("t", rows, columns, array, np.full(array.shape, "")), row, column)
    return canvas


def _middle(canvas: MapCanvas, row: int, column: int) -> QPoint:
    area, (high, wide) = canvas.area(), canvas.chart.values.shape
    across = area.left() + (column + 0.5) * area.width() / wide
    return QPoint(int(across), int(area.top() + (row + 0.5) * area.height() / high))


def test_that_layers_stand_in_forward_order_and_checkpoints_in_training_order() -> None:
    chart = saturation_map(fake_session((RUN,)), RUN)
    assert chart.rows == (*LAYERS, "attention")
    assert chart.columns == names()
    assert chart.values.shape == (len(LAYERS) + 1, len(names()))


def test_that_what_is_wrong_has_a_sign_in_its_cell() -> None:
    chart = saturation_map(fake_session((RUN,)), RUN)
    signs = {chart.rows[k]: chart.marks[k, 0] for k in range(len(chart.rows))}
    assert [signs[LAYERS[k]] for k in (0, 3, 5, 7)] == ["", "×", "*", "!"]
    assert signs["attention"] == UNSEEN


def test_that_a_checkpoint_that_was_not_measured_has_no_column_yet() -> None:
    session = fake_session((RUN,))
    next(iter(session.saturation.values())).measured.pop(names()[2])
    assert names()[2] not in saturation_map(session, RUN).columns
    assert "appear" in saturation_map(Session(), RUN).empty


def test_that_every_cell_has_the_colour_of_its_value(keep: Keep) -> None:
    canvas = _canvas(keep, [[0.0, 0.5], [1.0, float("nan")]])
    image = canvas.grab().toImage()
    for (row, column), place in {(0, 0): 0, (0, 1): 128, (1, 0): 255}.items():
        colour = image.pixelColor(_middle(canvas, row, column))
        expected = colour_table("viridis")[place][:3].astype(int)
        assert np.abs(np.array([colour.red(), colour.green(), colour.blue()]) - expected).max() <= 3
    assert image.pixelColor(_middle(canvas, 1, 1)).name() == DARK.track


def test_that_a_click_chooses_a_cell(keep: Keep) -> None:
    canvas = _canvas(keep, [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    heard: list[tuple[str, str]] = []
    canvas.chosen.connect(lambda *cell: heard.append(cell))
    modifier = Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, modifier, _middle(canvas, 1, 2))
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, modifier, QPoint(2, 2))
    assert heard == [("b", "z")]


@pytest.mark.parametrize(
    ("key", "cell"),
    [
        (Qt.Key.Key_Down, ("c", "y")),
        (Qt.Key.Key_Up, ("a", "y")),
        (Qt.Key.Key_Right, ("b", "y")),
        (Qt.Key.Key_Left, ("b", "x")),
        (Qt.Key.Key_Escape, ("", "y")),
    ],
)
def test_that_the_keyboard_moves_the_chosen_cell(keep: Keep, key: Qt.Key, cell: tuple[str, str]) -> None:
    canvas = _canvas(keep, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], "b", "y")
    heard: list[tuple[str, str]] = []
    canvas.chosen.connect(lambda *chosen: heard.append(chosen))
    QTest.keyClick(canvas, key)
    assert heard == [cell]
    assert "b at y" in canvas.accessibleDescription()
