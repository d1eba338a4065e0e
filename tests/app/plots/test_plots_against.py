import numpy as np
import pytest
from fake_session import LAYERS, RUNS, STEPS, fake_session, names
from msgspec.structs import replace

from landscope.contract.deltas import CheckpointInfo, NotObserved, RunListed
from landscope.session.model import Session
from landscope_app.plots.saturation_chart import saturation_chart
from landscope_app.plots.saturation_frame import UNSEEN
from landscope_app.plots.saturation_map import saturation_map
from landscope_app.plots.saturation_table import bars_table, map_table
from landscope_app.plots.spectrum_chart import spectrum_chart

RUN, OTHER = RUNS
NOW = names()[2]


@pytest.fixture
def session() -> Session:
    """Two runs; the second has twice as many directions in use, lacks a layer and has one of its own."""
    found = fake_session()
    saturation = next(s for s in found.saturation.values() if s.run == OTHER)
    for name, measured in saturation.measured.items():
        layers = tuple(
            replace(one, idim=one.dimension, lsat=1.0, spectrum=np.ones(one.dimension))
            for one in measured.layers[1:]
        )
        extra = replace(layers[0], layer="extra", samples=12, dimension=7)
        unseen = (NotObserved(layer="attention", reason="a function, not a module, computes it"),)
        saturation.measured[name] = replace(measured, layers=(*layers, extra), not_observed=unseen)
    return found


def _bar(session: Session, layer: str, **options):  # type: ignore[no-untyped-def]
    chart = saturation_chart(session, RUN, NOW, other=OTHER, **options)
    return next(bar for bar in chart.bars if bar.label == layer)


def test_that_a_bar_stands_beside_the_layer_of_its_name(session: Session) -> None:
    bar = _bar(session, LAYERS[1])
    assert bar.other == 1.0
    assert OTHER in bar.readout
    assert "−" in bar.readout
    assert "n 91,968 · D 8" in bar.readout
    assert "difference −" in bar.detail
    assert "same step, 50" in saturation_chart(session, RUN, NOW, other=OTHER).other_note


def test_that_layers_of_one_run_alone_are_listed_as_such(session: Session) -> None:
    assert "unmatched" in _bar(session, LAYERS[0]).flags
    extra = _bar(session, "extra")
    assert extra.flags == ("only_other",)
    assert (np.isnan(extra.value), extra.other) == (True, 1.0)
    assert f"only in {OTHER}" in extra.detail
    assert _bar(session, "attention").flags == ("not_observed",)


def test_that_both_runs_follow_the_threshold(session: Session) -> None:
    assert _bar(session, LAYERS[1], threshold=0.5).other == 0.5


def test_that_a_run_that_is_not_measured_there_is_said(session: Session) -> None:
    saturation = next(s for s in session.saturation.values() if s.run == OTHER)
    saturation.measured.pop(NOW)
    chart = saturation_chart(session, RUN, NOW, other=OTHER)
    assert "not been measured yet" in chart.other_note
    assert all(np.isnan(bar.other) for bar in chart.bars)
    assert "not been measured yet" in spectrum_chart(session, RUN, NOW, LAYERS[1], other=OTHER).note


def test_that_the_spectra_of_both_runs_are_drawn_over_each_other(session: Session) -> None:
    chart = spectrum_chart(session, RUN, NOW, LAYERS[1], other=OTHER)
    assert [series.dashed for series in chart.series] == [False, False, True, True]
    assert len({series.name for series in chart.series}) == 4
    assert chart.marks[1] == 8
    alone = spectrum_chart(session, RUN, NOW, LAYERS[0], other=OTHER)
    assert len(alone.series) == 2
    assert "not in this model" in alone.note


def test_that_the_map_of_a_comparison_holds_differences_around_zero(session: Session) -> None:
    chart = saturation_map(session, RUN, other=OTHER)
    ours = saturation_map(session, RUN)
    row, column = chart.rows.index(LAYERS[1]), 2
    assert chart.values[row, column] == ours.values[ours.rows.index(LAYERS[1]), column] - 1.0
    assert chart.low == -chart.high
    assert chart.colour_map != ours.colour_map
    assert (chart.rows[0], chart.rows[-2:]) == (LAYERS[0], ("extra", "attention"))
    assert set(chart.marks[0]) == {UNSEEN}
    assert chart.other_columns == names()


def test_that_columns_meet_at_the_nearest_share_where_steps_differ(session: Session) -> None:
    infos = tuple(CheckpointInfo(name=n, step=3 * s + 1) for n, s in zip(names(), STEPS, strict=True))
    session.apply(RunListed(run=OTHER, folder="", checkpoints=infos))
    chart = saturation_map(session, RUN, other=OTHER)
    assert chart.other_columns == names()
    assert "nearest share" in chart.note


def test_that_tables_hold_every_row_with_n_and_d(session: Session) -> None:
    lines = [line.split("\t") for line in bars_table(saturation_chart(session, RUN, NOW)).splitlines()]
    assert lines[0] == ["layer", "Saturation", "D", "n", "note"]
    assert lines[2][0] == LAYERS[1]
    assert lines[2][2:4] == ["8", "91968"]
    assert lines[-1] == ["attention", "", "", "", "not observed"]
    compared = bars_table(saturation_chart(session, RUN, NOW, other=OTHER)).splitlines()
    assert len(compared) == len(LAYERS) + 3
    assert compared[0].split("\t")[4:6] == [f"Saturation, {OTHER}", "difference"]


def test_that_the_table_of_a_map_has_a_line_per_cell(session: Session) -> None:
    chart = saturation_map(session, RUN, other=OTHER)
    lines = [line.split("\t") for line in map_table(chart).splitlines()]
    assert len(lines) == 1 + chart.values.size
    assert lines[0][:5] == ["layer", "checkpoint", "value", "D", "n"]
    second = lines[1 + len(names())]
    assert second[:2] == [LAYERS[1], names()[0]]
    assert float(second[2]) - float(second[6]) == pytest.approx(float(second[7]))
