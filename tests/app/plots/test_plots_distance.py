import numpy as np
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from msgspec.structs import replace

from landscope.contract import deltas as d
from landscope.session.model import Session
from landscope.session.schema import unit
from landscope_app.plots.distance_chart import CurveChoice, distance_chart
from landscope_app.plots.distance_map import distance_map
from landscope_app.plots.distance_rows import layers, parameters
from landscope_app.plots.distance_table import TOTAL, distance_table, table_text
from landscope_app.plots.distance_text import curves_text, map_text
from landscope_app.plots.map_words import told
from landscope_app.plots.matrices import MatrixKey, all_matrices, key_from, matrix_of, offered, reading
from landscope_app.plots.quantities import BY_KEY, QUANTITIES
from landscope_app.plots.quantities import reading as how_to_read

RUN, OTHER = RUNS


@pytest.fixture
def session() -> Session:
    return fake_session()


def _opened(session: Session, **changes: object) -> None:
    session.distances[RUN].opened = replace(session.distances[RUN].opened, **changes)


def _measured(session: Session, checkpoint: str, layer: int, value: float, *keys: str) -> None:
    """Put a value into some quantities of a layer, which has one parameter."""
    for key in keys:
        session.distances[RUN].measured[checkpoint].layers[key][layer] = value


def test_that_every_quantity_says_formula_unit_source_and_how_to_read_it() -> None:
    for quantity in QUANTITIES:
        text = how_to_read(quantity, None)
        assert quantity.formula in text
        assert "unit" in text
        assert quantity.reading in text
        assert quantity.source in text
    assert (BY_KEY["angle"].unit, unit("angle")) == ("°", "degree")


def test_that_relative_and_absolute_quantities_are_each_others_pair() -> None:
    pairs = [one for one in QUANTITIES if one.pair]
    assert {one.key for one in pairs} == {"distance", "relative", "update", "update_ratio"}
    assert all(BY_KEY[one.pair].pair == one.key for one in pairs)


def test_that_the_help_names_the_first_checkpoint_and_its_step(session: Session) -> None:
    _opened(session, reference_step=1000)
    text = how_to_read(BY_KEY["distance"], session.distances[RUN])
    assert f"{names()[0]}, the earliest checkpoint, at step 1,000" in text
    assert "from init" not in text


def test_that_chosen_layers_and_the_one_in_front_are_drawn(session: Session) -> None:
    choice = CurveChoice("chosen", layers=(LAYERS[0], LAYERS[4]), layer=LAYERS[6])
    chart = distance_chart(session, RUN, choice=choice)
    assert [one.name for one in chart.series] == [LAYERS[0], LAYERS[4], LAYERS[6]]
    assert chart.front == LAYERS[6]
    assert "No layer is chosen" in distance_chart(session, RUN, choice=CurveChoice("chosen")).empty


def test_that_another_run_is_drawn_as_dashes_in_the_same_colours(session: Session) -> None:
    chart = distance_chart(session, RUN, choice=CurveChoice("layers", other=OTHER))
    ours, theirs = chart.series[: len(LAYERS)], chart.series[len(LAYERS) :]
    assert all(two.dashed and not one.dashed for one, two in zip(ours, theirs, strict=True))
    assert [one.shade for one in ours] == [two.shade for two in theirs]
    assert [two.group for two in theirs] == list(LAYERS)
    assert chart.style_titles == (RUN, OTHER)


def test_that_the_totals_of_two_runs_say_whose_they_are(session: Session) -> None:
    chart = distance_chart(session, RUN, choice=CurveChoice(other=OTHER))
    assert [one.legend for one in chart.series] == [f"all parameters · {run}" for run in RUNS]
    assert chart.series[0].colour != chart.series[1].colour


def test_that_layers_of_only_one_run_are_named(session: Session) -> None:
    renamed = ("first", *LAYERS[1:])
    session.distances[OTHER].opened = replace(session.distances[OTHER].opened, layers=renamed)
    chart = distance_chart(session, RUN, choice=CurveChoice("layers", other=OTHER))
    assert f"only in {RUN}: stem" in chart.note
    assert f"only in {OTHER}: first" in chart.note


def test_that_a_logarithm_is_only_taken_of_lengths(session: Session) -> None:
    choice = CurveChoice(log_x=True, log_y=True)
    assert distance_chart(session, RUN, choice=choice).log_y
    assert not distance_chart(session, RUN, key="cosine", choice=choice).log_y
    assert distance_chart(session, RUN, names()[0], choice=choice).cursor is None  # step 0 has no place


def test_that_a_checkpoint_that_was_left_out_is_named(session: Session) -> None:
    del session.distances[RUN].measured[names()[3]]
    assert f"no value: {names()[3]}" in distance_chart(session, RUN).note
    chart = distance_map(session, RUN)
    assert (chart.marks[:, 3] == "").all()
    assert np.isnan(chart.values[:, 3]).all()


def test_that_the_map_marks_frozen_undefined_and_not_finite(session: Session) -> None:
    _measured(session, names()[2], 4, np.nan, "norm", "distance")
    _measured(session, names()[0], 5, np.nan, "distance")
    chart = distance_map(session, RUN)
    assert chart.rows == LAYERS
    assert chart.columns == names()
    assert (chart.marks[2] == "=").all()
    assert chart.marks[4, 2] == "!"
    assert chart.marks[5, 0] == "–"
    assert chart.marks[5, 1] == ""
    assert chart.column_labels[-1] == "1,200"


def test_that_a_logarithmic_map_shows_zeros_as_its_lowest_colour(session: Session) -> None:
    chart = distance_map(session, RUN, log=True)
    assert chart.log
    shown = chart.displayed(chart.values)
    assert shown[2, 0] == shown[0, 0] == chart.limits[0]  # frozen; the first checkpoint
    assert np.nanmax(shown) == pytest.approx(chart.limits[1])
    assert told(chart, 1, 7) == f"{LAYERS[1]} at {names()[7]}: 3.81"


@pytest.mark.parametrize(("low", "limits"), [(-0.5, (-1.0, 1.0)), (0.25, (0.25, 1.0))])
def test_that_cosines_have_diverging_colours_only_below_zero(
    session: Session, low: float, limits: tuple[float, float]
) -> None:
    for one in session.distances[RUN].measured.values():
        one.layers["cosine"] = np.linspace(low, 1.0, len(LAYERS))
    chart = distance_map(session, RUN, "cosine")
    assert (chart.low, chart.high) == limits
    assert chart.colour_map == ("vik" if low < 0 else "viridis")


def test_that_one_checkpoint_alone_gives_map_curve_and_table() -> None:
    session = fake_session((RUN,))
    run, first = session.runs[RUN], names()[0]
    run.checkpoints = run.checkpoints[:1]
    session.distances[RUN].measured = {first: session.distances[RUN].measured[first]}
    assert len(distance_chart(session, RUN, first).series[0].x) == 1
    assert distance_map(session, RUN).values.shape == (len(LAYERS), 1)
    assert distance_table(session, RUN, first).rows


def _with_matrices(session: Session) -> Session:
    count = len(names())
    distance = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(float)
    for run in RUNS:
        cosine = np.exp(-distance)
        cosine[0, 0] = np.nan
        session.apply(d.DistanceMatrices(run=run, checkpoints=names(), distance=distance, cosine=cosine))
    session.apply(
        d.SimilarityMeasured(
            run=RUN,
            other=OTHER,
            checkpoints=names(),
            others=names()[:3],
            split="train",
            samples=64,
            predictions={"kl": distance[:, :3]},
            layers=LAYERS[:2],
            cka=np.stack([distance[:, :3] / 10, distance[:, :3] / 20]),
        )
    )
    return session


def test_that_matrices_of_weights_predictions_and_layers_are_offered(session: Session) -> None:
    assert [one.kind for one in offered(session, RUN)] == ["distance", "cosine"]
    assert "appears here" in matrix_of(session, offered(session, RUN)[0]).empty
    keys = offered(_with_matrices(session), OTHER)
    assert keys[0] == MatrixKey("distance", OTHER, OTHER)
    assert [one.kind for one in keys] == ["distance", "cosine"] * 2 + ["kl", "cka", "cka"]
    assert all(key_from(one.text) == one for one in keys)
    assert key_from("nonsense") == MatrixKey("distance", "", "")
    assert len(list(all_matrices(session))) == len(keys)
    assert all("Source: " in reading(one) for one in keys)


def test_that_a_matrix_says_its_steps_and_the_values_of_a_pair(session: Session) -> None:
    _with_matrices(session)
    chart = matrix_of(session, MatrixKey("distance", RUN, RUN))
    assert chart.row_labels[:3] == ("0", "20", "50")
    assert chart.row_title == chart.column_title == "step"
    assert told(chart, 7, 2) == f"{names()[7]} and {names()[2]}: 5.00"
    assert matrix_of(session, MatrixKey("cosine", RUN, RUN)).marks[0, 0] == "–"
    kl = matrix_of(session, MatrixKey("kl", RUN, OTHER))
    assert kl.values.shape == (8, 3)
    assert kl.column_title == f"step, {OTHER}"
    assert told(kl, 1, 0).endswith("1.00 nats")
    assert kl.note == "64 samples of train"
    layer = matrix_of(session, MatrixKey("cka", RUN, OTHER, LAYERS[1]))
    np.testing.assert_array_equal(layer.values, session.similarities[RUN, OTHER].cka[1])


def test_that_the_table_has_the_total_every_layer_and_what_is_to_be_known(session: Session) -> None:
    _opened(session, flags=(("tied:head.weight",), ("buffer",), ("frozen",), *((),) * (len(LAYERS) - 3)))
    _measured(session, names()[7], 3, np.nan, "norm", "distance")
    table = distance_table(session, RUN, names()[7])
    assert table.rows == (TOTAL, *LAYERS)
    assert table.notes[1] == "tied: also head.weight"
    assert table.notes[3] == "frozen"
    distance = next(c for c in table.columns if c.quantity.key == "distance")
    measured = session.distances[RUN].measured[names()[7]]
    assert distance.values[0] == measured.total["distance"]
    assert distance.values[5] == measured.layers["distance"][4]
    assert distance.text(4) == "NaN"
    angle = next(c for c in table.columns if c.quantity.key == "angle")
    assert angle.text(0) == "–"


def test_that_a_table_beside_another_run_matches_rows_by_name(session: Session) -> None:
    other = session.distances[OTHER]
    other.opened = replace(other.opened, layers=(*LAYERS[:-1], "new_head"))
    table = distance_table(session, RUN, names()[7], other=OTHER)
    assert table.rows[-1] == "new_head"
    assert table.notes[-1] == f"only in {OTHER}"
    assert table.notes[-2] == f"not in {OTHER}"
    ours, theirs = table.columns[:2]
    assert (ours.run, theirs.run) == (RUN, OTHER)
    assert ours.text(len(table.rows) - 1) == "–"
    assert theirs.values[-1] == other.measured[names()[7]].layers["distance"][-1]
    assert "at the same step" in table.note


def test_that_parameters_of_tied_weights_are_named_once_with_their_other_names(session: Session) -> None:
    _opened(session, flags=(("tied:a", "tied:b", "nonfinite"), *((),) * (len(LAYERS) - 1)))
    opened = session.distances[RUN].opened
    assert parameters(opened)[0].note == "NaN or inf; tied: also a, b"
    assert layers(opened)[0].flags == {"nonfinite", "tied"}
    table = distance_table(session, RUN, names()[7], by_parameter=True)
    assert table.rows.count(f"{LAYERS[0]}.weight") == 1


def test_that_tables_are_copied_with_every_digit(session: Session) -> None:
    table = distance_table(session, RUN, names()[7])
    head, total, *rest = (line.split("\t") for line in table_text(table).splitlines())
    assert head[0] == "name"
    assert head[-1] == "note"
    assert len(rest) == len(LAYERS)
    assert float(total[1]) == session.distances[RUN].measured[names()[7]].total["distance"]
    assert total[head.index("Angle between updates (°)")] == ""
    cells = map_text(distance_map(session, RUN)).splitlines()
    assert len(cells) == 1 + len(LAYERS) * len(names())
    assert cells[1 + 2 * len(names())].endswith("\tfrozen")
    assert len(curves_text(distance_chart(session, RUN)).splitlines()) == 1 + len(names())
