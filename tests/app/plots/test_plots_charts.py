import numpy as np
import pytest
from fake_session import LAYERS, RUNS, STEPS, fake_session, names
from msgspec.structs import replace

from landscope.contract import deltas as d
from landscope.session.model import Session
from landscope.session.schema import UNITS
from landscope_app.plots.distance_chart import CurveChoice, distance_chart
from landscope_app.plots.landscape_chart import (
    Display,
    barriers,
    contour_levels,
    field_chart,
    is_log,
    line_chart,
    metrics_of_plane,
)
from landscope_app.plots.loss_chart import loss_chart
from landscope_app.plots.quantities import offered
from landscope_app.plots.saturation_chart import saturation_chart
from landscope_app.plots.saturation_values import STATISTICS

RUN = RUNS[0]


@pytest.fixture(scope="module")
def session() -> Session:
    return fake_session()


def test_that_bars_stand_in_forward_order_with_unseen_layers_last(session: Session) -> None:
    chart = saturation_chart(session, RUN, names()[4])
    assert [b.label for b in chart.bars] == [*LAYERS, "attention"]
    assert chart.bars[-1].text == "not observed"
    assert "a function" in chart.bars[-1].detail


def test_that_bars_carry_the_measured_values_and_those_of_the_first_checkpoint(session: Session) -> None:
    chart = saturation_chart(session, RUN, names()[4])
    now = session.saturation[f"{RUN}/train"].measured[names()[4]].layers[0]
    first = session.saturation[f"{RUN}/train"].measured[names()[0]].layers[0]
    assert (chart.bars[0].value, chart.bars[0].reference) == (now.lsat, first.lsat)
    assert names()[0] in chart.reference_title


def test_that_dead_layers_are_called_dead_and_few_samples_are_said(session: Session) -> None:
    bars = saturation_chart(session, RUN, names()[4]).bars
    assert bars[3].text == "dead"
    assert "too_few_samples" in bars[5].flags
    assert "too few" in bars[5].detail
    assert "12 rows with NaN or inf" in bars[7].detail


def test_that_the_mean_counts_every_observed_layer(session: Session) -> None:
    chart = saturation_chart(session, RUN, names()[4])
    values = [layer.lsat for layer in session.saturation[f"{RUN}/train"].measured[names()[4]].layers]
    assert chart.mean == pytest.approx(np.mean(values))


@pytest.mark.parametrize("key", [s.key for s in STATISTICS])
def test_that_bars_keep_their_scale_while_stepping(session: Session, key: str) -> None:
    assert len({saturation_chart(session, RUN, name, key).high for name in names()}) == 1


def test_that_an_unmeasured_checkpoint_gets_a_sentence(session: Session) -> None:
    chart = saturation_chart(session, RUN, "later.pt")
    assert not chart.bars
    assert "later.pt" in chart.empty
    assert saturation_chart(Session(), "", "").empty


def test_that_losses_have_a_curve_per_split_and_accuracy_on_the_right(session: Session) -> None:
    chart = loss_chart(session, RUN, names()[2])
    assert [(s.name, s.right) for s in chart.series] == [
        ("train loss", False),
        ("test loss", False),
        ("train accuracy", True),
        ("test accuracy", True),
    ]
    assert chart.cursor == STEPS[2]
    np.testing.assert_array_equal(chart.series[0].x, STEPS)


def test_that_a_checkpoint_without_loss_is_a_gap(session: Session) -> None:
    part = Session()
    run = session.runs[RUN]
    part.apply(d.RunListed(run=RUN, folder="", checkpoints=run.checkpoints))
    part.apply(run.measured["train"][names()[0]])
    y = loss_chart(part, RUN).series[0].y
    assert np.isfinite(y[0])
    assert np.isnan(y[1:]).all()


def test_that_distances_count_from_init_only_if_that_is_step_zero(session: Session) -> None:
    assert "distance from init" in distance_chart(session, RUN).title
    later = fake_session((RUN,))
    opened = later.distances[RUN].opened
    later.distances[RUN].opened = replace(opened, reference_step=100)
    title = distance_chart(later, RUN).title
    assert "init" not in title
    assert "step 100" in title


def test_that_only_quantities_that_a_run_has_are_offered() -> None:
    session = fake_session((RUN,))
    keys = [one.key for one in offered(session, RUN)]
    assert "distance" in keys
    assert not {"last_update", "gradient_norm"} & set(keys)
    first = session.distances[RUN].measured[names()[0]]
    session.apply(replace(first, total={**first.total, "last_update": 0.5}))
    assert "last_update" in [one.key for one in offered(session, RUN)]


def test_that_angles_are_in_the_unit_that_their_title_says(session: Session) -> None:
    assert UNITS["angle"] == "degree"
    assert "°" in distance_chart(session, RUN, key="angle").title


def test_that_distances_per_layer_have_one_curve_each(session: Session) -> None:
    chart = distance_chart(session, RUN, names()[1], choice=CurveChoice("layers"))
    assert [s.name for s in chart.series] == list(LAYERS)
    measured = session.distances[RUN].measured[names()[1]].layers["distance"]
    np.testing.assert_array_equal([s.y[1] for s in chart.series], measured)


def test_that_a_line_shows_policy_stored_statistics_and_accuracy(session: Session) -> None:
    chart = line_chart(session, f"{RUN}-line")
    assert [s.name for s in chart.series] == [
        "loss (recalibrated BatchNorm)",
        "loss (stored statistics)",
        "accuracy",
    ]
    assert chart.marks == (0.0, 1.0)
    assert f"{names()[0]} (0)" in chart.x_title


def test_that_both_barriers_are_named_and_right() -> None:
    session = fake_session((RUN,))
    line = session.lines[f"{RUN}-line"]
    t = line.opened.coordinates
    line.values["loss"] = 1.0 - 0.5 * t + np.where(t == 0.5, 2.0, 0.0)
    assert barriers(line) == pytest.approx((2.75 - 0.75, 2.0))
    note = line_chart(session, f"{RUN}-line").note
    assert "2.00 (Frankle 2020)" in note
    assert "2.00 (Entezari 2022)" in note


def test_that_an_incomplete_line_has_no_barrier() -> None:
    line = fake_session((RUN,)).lines[f"{RUN}-line"]
    line.state[3] = 0
    assert barriers(line) is None


def test_that_a_plane_keeps_its_samples_and_its_path(session: Session) -> None:
    chart = field_chart(session, f"{RUN}-trajectory", names()[3])
    assert chart is not None
    plane = session.planes[f"{RUN}-trajectory"]
    i, j = (
        np.argmin(np.abs(chart.alpha - plane.opened.alpha[4])),
        np.argmin(np.abs(chart.beta - plane.opened.beta[6])),
    )
    assert chart.z[i, j] == pytest.approx(plane.values["loss"][4, 6], rel=1e-12)
    assert chart.current == 3
    assert chart.path is not None
    assert chart.path.shape == (len(STEPS), 2)


def test_that_auto_scale_is_logarithmic_only_where_a_few_walls_would_hide_the_valley(
    session: Session,
) -> None:
    plane = session.planes[f"{RUN}-trajectory"]
    assert not is_log(plane, Display())
    steep = fake_session((RUN,)).planes[f"{RUN}-trajectory"]
    steep.values["loss"] = np.exp(6 * steep.values["loss"])
    assert is_log(steep, Display())
    steep.values["loss"][0, 0] = -1.0
    assert not is_log(steep, Display())
    assert is_log(plane, Display(scale="log"))


def test_that_errors_and_centre_values_are_no_fields_of_a_plane() -> None:
    plane = fake_session((RUN,)).planes[f"{RUN}-trajectory"]
    centre = np.full(plane.state.shape, np.nan)
    centre[8, 8] = 0.4
    plane.values["loss_stored"] = centre
    assert metrics_of_plane(plane) == ("loss", "accuracy")


def test_that_contour_levels_are_round_and_inside() -> None:
    levels = contour_levels((0.03, 3.4), 16)
    assert 8 <= len(levels) <= 17
    assert min(levels) > 0.03
    assert max(levels) < 3.4
    np.testing.assert_allclose(np.diff(levels), 0.25)
    assert contour_levels((1.0, 1.0), 16) == ()
