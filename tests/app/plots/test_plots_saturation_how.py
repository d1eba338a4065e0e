import pytest
from fake_session import RUNS, fake_session, names
from msgspec.structs import replace

from landscope.contract.options import Setting
from landscope.session.model import Session
from landscope_app.plots.saturation_chart import saturation_chart
from landscope_app.plots.saturation_how import options_told, unlike
from landscope_app.plots.saturation_map import saturation_map
from landscope_app.plots.spectrum_chart import spectrum_chart

RUN, OTHER = RUNS
FIRST, SECOND, LAST = names()[0], names()[1], names()[-1]


@pytest.fixture
def session() -> Session:
    return fake_session()


def _measure(session: Session, run: str, checkpoint: str, **settings: Setting) -> None:
    """As a measurement with other settings would replace what is there."""
    measured = session.saturation[f"{run}/train"].measured
    one = measured[checkpoint]
    measured[checkpoint] = replace(one, settings={**one.settings, **settings})


def test_that_what_was_measured_alike_is_compared_without_a_word(session: Session) -> None:
    _measure(session, RUN, LAST, conv_method="channelwise", row_share=1.0)
    chart = saturation_chart(session, RUN, SECOND, other=OTHER)
    assert chart.otherwise == ""
    assert chart.reference_title == f"at {FIRST}"
    assert "not" not in chart.other_note
    assert saturation_map(session, RUN).note == ""


def test_that_bars_from_before_say_how_they_were_measured(session: Session) -> None:
    _measure(session, RUN, LAST, conv_method="median")
    before, after = saturation_chart(session, RUN, SECOND), saturation_chart(session, RUN, LAST)
    assert before.otherwise == f"maps channelwise, not median as at {LAST}"
    assert before.reference_title == f"at {FIRST}"
    assert after.otherwise == ""
    assert after.note.endswith("train · maps median")
    assert after.reference_title == f"at {FIRST} (maps channelwise, not median)"


def test_that_a_map_says_how_many_of_its_columns_are_unlike_the_last(session: Session) -> None:
    for checkpoint in names()[3:]:
        _measure(session, RUN, checkpoint, samples=512)
    note = f"3 of 8: 1,437 samples, not 512 samples as at {LAST}"
    assert saturation_map(session, RUN).note.replace("\u202f", ",").replace("\u2009", ",") == note


def test_that_rules_and_thresholds_matter_where_they_are_shown(session: Session) -> None:
    _measure(session, RUN, LAST, idim_rule="delve")
    assert "fewest directions, not delve's rule" in saturation_map(session, RUN, "idim").note
    assert saturation_map(session, RUN, "trace").note == ""
    measured = session.saturation[f"{RUN}/train"].measured
    measured[FIRST] = replace(measured[FIRST], threshold=0.9)
    assert "90 % of the variance" in saturation_map(session, RUN).note
    assert "of the variance" not in saturation_map(session, RUN, threshold=0.95).note


def test_that_another_run_that_was_measured_otherwise_says_so(session: Session) -> None:
    _measure(session, OTHER, SECOND, timeseries_method="timestepwise", row_share=0.25)
    told = "every step, not last step · 25 % of the rows, not all rows"
    assert told in saturation_chart(session, RUN, SECOND, other=OTHER).other_note
    assert told in saturation_map(session, RUN, other=OTHER).note
    assert told in spectrum_chart(session, RUN, SECOND, "head", other=OTHER).note


def test_that_previews_are_not_taken_for_a_choice_of_fewer_samples(session: Session) -> None:
    _measure(session, RUN, LAST, samples=64, partial=True)
    assert saturation_chart(session, RUN, SECOND).otherwise == ""
    measured = session.saturation[f"{RUN}/train"].measured
    assert unlike(measured[FIRST], measured[LAST], counted=True) == ""
    assert options_told(measured[LAST]) == ""
