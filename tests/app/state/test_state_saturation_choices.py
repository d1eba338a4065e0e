import pytest
from fake_session import LAYERS, RUNS, fake_session
from msgspec.structs import replace

from landscope.contract import events as e
from landscope.contract.deltas import SaturationMeasured
from landscope.contract.options import ProjectSpec, SaturationOptions
from landscope_app.state.saturation_choices import (
    SaturationChoices,
    SaturationPace,
    for_view,
    from_project,
    from_view,
    job_of,
    known_names,
    names_in,
)

PROJECT = ProjectSpec(root="/p", script="/p/m.py", saturation=SaturationOptions(conv_method="max"))


def _full(checkpoint: str, samples: int = 100, *, partial: bool = False) -> e.Event:
    settings = {"samples": samples, "partial": partial}
    delta = SaturationMeasured(
        run="a", checkpoint=checkpoint, mode="train", threshold=0.99, layers=(), settings=settings
    )
    return e.Event("job", e.Partial(delta=delta))


def test_that_choices_begin_with_the_project_and_reach_the_job() -> None:
    choices = from_project(PROJECT)
    assert choices.options.conv_method == "max"
    other = replace(choices, options=replace(choices.options, split="test"), samples=64)
    job = job_of(other, PROJECT, "a")
    assert (job.run, job.options.split, job.options.conv_method) == ("a", "test", "max")
    assert (job.project.data.samples, job.project.saturation) == (64, job.options)


def test_that_a_session_keeps_choices() -> None:
    options = SaturationOptions(layers=("norm", "Embedding"), row_share=0.25, embedding=False)
    choices = SaturationChoices(options=options, samples=0)
    assert from_view(for_view(choices), PROJECT) == choices


@pytest.mark.parametrize(
    "kept", [None, 3, {"samples": "many"}, {"options": {"conv_method": "no"}}, {"options": {"row_share": 7}}]
)
def test_that_strange_choices_of_a_session_give_way_to_the_project(kept: object) -> None:
    assert from_view(kept, PROJECT) == from_project(PROJECT)


def test_that_names_are_read_between_commas_each_once() -> None:
    assert names_in(" norm, Embedding ,,norm") == ("norm", "Embedding")


def test_that_modules_and_classes_of_the_run_are_known() -> None:
    names = known_names(fake_session(), RUNS[0])
    assert {*LAYERS, "attention", "blocks", "blocks.3", "Conv2d"} <= set(names)
    assert known_names(fake_session(), "nowhere") == ()


def test_that_the_pace_comes_from_complete_checkpoints_alone() -> None:
    pace = SaturationPace()
    pace.take(_full("3", partial=True), 1.0)
    pace.take(_full("3"), 10.0)
    assert pace.expect("a", 8, 50).seconds is None
    pace.take(_full("1"), 12.0)
    pace.take(_full("2"), 14.0)
    assert pace.expect("a", 8, 50).seconds == pytest.approx(8.0)
    assert pace.expect("b", 8, 50).seconds is None
    assert pace.expect("a", 8, 0).seconds is None


def test_that_a_pause_does_not_slow_the_pace() -> None:
    pace = SaturationPace()
    for event, now in (
        (_full("3"), 0.0),
        (e.Event("job", e.Paused()), 1.0),
        (_full("1"), 500.0),
        (_full("2"), 501.0),
    ):
        pace.take(event, now)
    assert pace.expect("a", 1, 100).seconds == pytest.approx(1.0)
