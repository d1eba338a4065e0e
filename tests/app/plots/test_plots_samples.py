"""The samples of a layer as points: what is drawn, how they stay in place, what is told of them."""

from itertools import pairwise

import numpy as np
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from msgspec.structs import replace
from PySide6.QtCore import QPointF
from qt_application import Keep

from landscope.contract.deltas import UNKNOWN_LABEL, LayerSaturation
from landscope.session.model import Session
from landscope_app.plots.points import PointsWidget, sign_of
from landscope_app.plots.samples_chart import NONE_KEPT, NOT_YET, samples_chart
from landscope_app.theme.colors import DARK, LIGHT

RUN, HEAD = RUNS[0], LAYERS[-1]


@pytest.fixture
def session() -> Session:
    return fake_session((RUN,))


def _change(session: Session, layer: str, **changes: object) -> None:
    """Give a layer other fields at every checkpoint."""
    measured = session.saturation[f"{RUN}/train"].measured
    for name, one in measured.items():
        layers = tuple(replace(x, **changes) if x.layer == layer else x for x in one.layers)
        measured[name] = replace(one, layers=layers)


def _layer(session: Session, checkpoint: str) -> LayerSaturation:
    return session.saturation[f"{RUN}/train"].measured[checkpoint].layers[-1]


def test_that_axes_tell_shares_and_points_their_class_and_sample(session: Session) -> None:
    chart = samples_chart(session, RUN, names()[2], HEAD)
    layer = _layer(session, names()[2])
    first, second = layer.spectrum[:2] / layer.spectrum.sum()
    assert chart.axis_titles == (
        f"first direction · {100 * first:.1f} %",
        f"second direction · {100 * second:.1f} %",
    )
    assert [group.name for group in chart.groups] == [str(k) for k in range(10)]
    assert chart.texts[0] == f"class {layer.labels[0]} · sample {layer.items[0]:,}"
    assert chart.note == "200 samples · n 1,437 · D 16"


def test_that_too_few_samples_are_told_with_how_many_are_wanted(session: Session) -> None:
    assert "too_few_samples" in session.saturation[f"{RUN}/train"].measured[names()[2]].layers[5].flags
    note = samples_chart(session, RUN, names()[2], LAYERS[5]).note
    assert note.endswith("D 8, at least 10·D wanted")


def test_that_stepping_does_not_flip_the_picture(session: Session) -> None:
    raw = [_layer(session, name).embedding for name in names()]
    assert (raw[0] * raw[1]).sum() < 0 < (raw[0] * raw[2]).sum()
    charts = [samples_chart(session, RUN, name, HEAD) for name in names()]
    for before, after in pairwise(charts):
        assert ((before.points * after.points).sum(axis=0) > 0).all()
    assert len({chart.limits for chart in charts}) == 1
    (left, right), (low, high) = charts[0].limits
    everything = np.concatenate([chart.points for chart in charts])
    assert (left, right, low, high) == (
        everything[:, 0].min(),
        everything[:, 0].max(),
        everything[:, 1].min(),
        everything[:, 1].max(),
    )


def test_that_each_direction_is_turned_by_itself(session: Session) -> None:
    before = _layer(session, names()[0]).embedding
    measured = session.saturation[f"{RUN}/train"].measured
    one = measured[names()[1]]
    layers = (*one.layers[:-1], replace(one.layers[-1], embedding=before * np.float32([1, -3])))
    measured[names()[1]] = replace(one, layers=layers)
    chart = samples_chart(session, RUN, names()[1], HEAD)
    np.testing.assert_allclose(chart.points, before * np.array([1, 3]), rtol=1e-6)


def test_that_points_that_are_not_finite_are_left_out_and_counted(session: Session) -> None:
    chart = samples_chart(session, RUN, names()[2], LAYERS[7])
    assert np.flatnonzero(np.isnan(chart.points).all(axis=1)).tolist() == [3]
    assert "512 samples (1 not finite)" in chart.note
    assert np.isfinite(chart.limits).all()
    _change(session, LAYERS[7], embedding=np.full((512, 2), np.inf, np.float32))
    assert "finite" in samples_chart(session, RUN, names()[2], LAYERS[7]).empty


def test_that_many_classes_share_a_ramp_and_few_have_signs_of_their_own(session: Session) -> None:
    groups = samples_chart(session, RUN, names()[2], HEAD).groups
    for theme in (DARK, LIGHT):
        looks = {(sign_of(g, theme), g.colour % len(theme.series)) for g in groups}
        assert len(looks) == 10
    _change(session, HEAD, labels=np.arange(200) // 2 * 3)
    chart = samples_chart(session, RUN, names()[2], HEAD)
    shades = [group.shade for group in chart.groups]
    assert (len(shades), shades[0], shades[-1]) == (100, 0.0, 1.0)
    assert (chart.listed[0].name, chart.listed[-1].name) == ("0", "297")


def test_that_classes_keep_their_colour_where_a_layer_lacks_some(session: Session) -> None:
    labels = _layer(session, names()[2]).labels
    _change(session, HEAD, labels=np.where(labels < 4, 4, labels))
    groups = samples_chart(session, RUN, names()[2], HEAD).groups
    assert [(group.name, group.colour) for group in groups] == [(str(k), k) for k in range(4, 10)]


def test_that_samples_without_label_are_drawn_and_told_apart(session: Session) -> None:
    labels = np.where(np.arange(200) % 2, UNKNOWN_LABEL, -1)
    _change(session, HEAD, labels=labels, items=np.full(200, -1))
    chart = samples_chart(session, RUN, names()[2], HEAD)
    assert [(group.name, group.colour) for group in chart.groups] == [("no label", -1), ("-1", 0)]
    assert chart.texts[:2] == ("class -1", "no label")
    _change(session, HEAD, labels=np.full(200, UNKNOWN_LABEL))
    (group,) = samples_chart(session, RUN, names()[2], HEAD).groups
    assert group.colour == 0


def test_that_what_is_missing_is_said(session: Session) -> None:
    nothing = np.empty((0, 2), np.float32)
    assert "not been measured" in samples_chart(session, RUN, "nope.pt", HEAD).empty
    assert "not observed" in samples_chart(session, RUN, names()[2], "attention").empty
    _change(session, LAYERS[4], spectrum=np.zeros(3))
    assert "never varies" in samples_chart(session, RUN, names()[2], LAYERS[4]).empty
    _change(session, HEAD, embedding=nothing, labels=np.empty(0, int), items=np.empty(0, int))
    assert samples_chart(session, RUN, names()[2], HEAD).empty == NONE_KEPT
    measured = session.saturation[f"{RUN}/train"].measured
    measured[names()[2]] = replace(measured[names()[2]], settings={"partial": True})
    assert samples_chart(session, RUN, names()[2], HEAD).empty == NOT_YET


def test_that_a_run_with_other_rows_at_a_checkpoint_is_drawn(session: Session) -> None:
    measured = session.saturation[f"{RUN}/train"].measured
    one = measured[names()[3]]
    few = replace(one.layers[-1], embedding=np.ones((2, 2), np.float32), labels=np.zeros(2, int))
    measured[names()[3]] = replace(one, layers=(*one.layers[:-1], replace(few, items=np.zeros(2, int))))
    assert len(samples_chart(session, RUN, names()[3], HEAD).points) == 2
    assert len(samples_chart(session, RUN, names()[4], HEAD).points) == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"embedding": np.full((200, 2), 3e38, np.float32) * np.resize([1, -1], (200, 1)).astype(np.float32)},
        {"embedding": np.full((200, 2), 1e-45, np.float32) * np.resize([1, -1], (200, 1)).astype(np.float32)},
        {"embedding": np.zeros((200, 2), np.float32)},
        {"spectrum": np.array([3.0])},
        {"spectrum": np.array([np.inf, 1.0])},
        {"labels": np.resize([2**63 - 1, 1 - 2**63], 200)},
    ],
)
def test_that_strange_numbers_are_drawn(session: Session, keep: Keep, changes: dict[str, object]) -> None:
    _change(session, HEAD, **changes)
    made = PointsWidget(DARK)
    keep(made)
    made.set_chart(samples_chart(session, RUN, names()[2], HEAD))
    assert len(made.shown()) == 200
    assert not made.grab().isNull()


@pytest.fixture
def widget(session: Session, keep: Keep) -> PointsWidget:
    made = PointsWidget(DARK)
    keep(made)
    made.resize(400, 300)
    made.show()
    made.set_chart(samples_chart(session, RUN, names()[-1], HEAD))
    return made


def _position(widget: PointsWidget, index: int) -> QPointF:
    return widget.plot.getViewBox().mapViewToScene(QPointF(*widget.chart.points[index]))


def test_that_a_point_under_the_pointer_is_told(widget: PointsWidget) -> None:
    assert widget.readout.whole == widget.chart.note
    found = widget.nearest(_position(widget, 5))
    np.testing.assert_allclose(widget.chart.points[found], widget.chart.points[5], atol=0.2)
    widget.plot.scene().sigMouseMoved.emit(_position(widget, 5))
    assert widget.readout.whole == widget.chart.texts[found]
    widget.plot.scene().sigMouseMoved.emit(QPointF(-50, -50))
    assert widget.readout.whole == widget.chart.note


def test_that_shares_stand_in_the_readout_where_there_is_no_room_beside_the_axes(
    widget: PointsWidget,
) -> None:
    assert widget.plot.getAxis("bottom").labelText == widget.chart.axis_titles[0]
    widget.resize(300, 150)
    assert not widget.plot.getAxis("bottom").label.isVisible()
    assert widget.readout.whole.startswith("→ 36.9 %, ↑ 23.3 %")


def test_that_ten_classes_stand_in_one_row_of_a_narrow_panel(widget: PointsWidget) -> None:
    widget.resize(292, 200)
    assert widget.legend.height() == 18


def test_that_a_marked_point_is_followed_to_the_next_checkpoint(
    widget: PointsWidget, session: Session
) -> None:
    widget.mark(5)
    widget.set_chart(samples_chart(session, RUN, names()[2], HEAD))
    assert widget.readout.whole == widget.chart.texts[5]
    (ring,) = widget._ring.data
    assert (ring["x"], ring["y"]) == tuple(widget.chart.points[5])
    widget.mark(-1)
    assert len(widget._ring.data) == 0


def test_that_a_class_can_be_hidden_by_its_legend(widget: PointsWidget) -> None:
    widget.legend.toggled.emit("3")
    assert not (widget.chart.group[widget.shown()] == 3).any()
    assert len(widget._dots.data) == len(widget.shown()) < 200
    widget.legend.toggled.emit("3")
    assert len(widget.shown()) == 200


def test_that_points_have_the_colour_of_their_class(widget: PointsWidget) -> None:
    image = widget.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(0, 400, 1) for y in range(40, 260, 1)}
    assert set(DARK.series) <= colours
    widget.apply_theme(LIGHT)
    image = widget.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(0, 400, 1) for y in range(40, 260, 1)}
    assert set(LIGHT.series) <= colours
