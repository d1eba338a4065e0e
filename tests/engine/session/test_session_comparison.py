import numpy as np
import pytest

from landscope.contract.deltas import CheckpointInfo, LayerSaturation, NotObserved, SaturationMeasured
from landscope.session.comparison import alike, counterpart, paired
from landscope.session.model import Run


def _run(name, steps, unit="step", names=None):
    infos = [
        CheckpointInfo(name=names[k] if names else f"{unit}_{value}", **({unit: value} if unit else {}))
        for k, value in enumerate(steps)
    ]
    return Run(name=name, folder="", checkpoints=tuple(infos))


def _layer(name, idim=2, spectrum=(6.0, 3.0, 0.5, 0.5)):
    numbers = {"trace": 1.0, "participation_ratio": 1.0, "effective_rank": 1.0, "samples": 100}
    return LayerSaturation(
        layer=name,
        kind="Linear",
        dimension=4,
        idim=idim,
        lsat=idim / 4,
        spectrum=np.array(spectrum),
        **numbers,
    )


def _measured(run, *layers, missing=(), **changes):
    facts = {"checkpoint": "c", "mode": "train", "threshold": 0.99, **changes}
    unseen = tuple(NotObserved(layer=name, reason="no hook sees it") for name in missing)
    return SaturationMeasured(run=run, layers=layers, not_observed=unseen, **facts)


@pytest.mark.parametrize("unit", ["step", "epoch"])
def test_that_the_checkpoint_at_the_same_step_corresponds(unit):
    here, there = _run("a", (0, 100, 200), unit), _run("b", (0, 50, 100, 400), unit)
    found = counterpart(here, f"{unit}_100", there)
    assert (found.run, found.checkpoint) == ("b", f"{unit}_100")
    assert f"same {unit}, 100" in found.how


def test_that_without_a_common_step_the_nearest_share_of_the_training_corresponds():
    here, there = _run("a", (0, 90, 180)), _run("b", (5, 400, 805))
    found = counterpart(here, "step_90", there)
    assert found.checkpoint == "step_400"
    assert "49 %" in found.how
    assert "50 %" in found.how


def test_that_steps_are_never_taken_for_epochs():
    here, there = _run("a", (0, 1, 2), "epoch"), _run("b", (0, 1, 100))
    assert counterpart(here, "epoch_2", there).checkpoint == "step_100"


def test_that_a_single_checkpoint_is_the_end_of_its_training():
    here, there = _run("a", (7,), "", names=["only"]), _run("b", (0, 10, 20))
    assert counterpart(here, "only", there).checkpoint == "step_20"


def test_that_of_several_at_one_step_the_one_of_the_same_name_corresponds():
    here = _run("a", (10,), names=["best"])
    assert counterpart(here, "best", _run("b", (10, 10), names=["best", "last"])).checkpoint == "best"


def test_that_nothing_corresponds_to_what_is_not_there():
    assert counterpart(_run("a", (0,)), "gone", _run("b", (0,))) is None
    assert counterpart(_run("a", (0,)), "step_0", _run("b", ())) is None


def test_that_no_layer_of_either_run_is_dropped():
    first = _measured("a", _layer("x", 3), _layer("ours"), missing=("hidden",))
    second = _measured("b", _layer("theirs"), _layer("x", 1), _layer("hidden"))
    found = {pair.layer: (pair.first is None, pair.second is None) for pair in paired(first, second)}
    assert list(found) == ["x", "ours", "hidden", "theirs"]
    assert found["x"] == (False, False)
    assert found["ours"] == (False, True)
    assert found["hidden"] == found["theirs"] == (True, False)
    assert paired(first, second)[0].difference("lsat") == 0.5
    assert np.isnan(paired(first, second)[1].difference("lsat"))


def test_that_runs_measured_in_other_ways_are_compared_in_one():
    first = _measured("a", _layer("x"), threshold=0.85, settings={"idim_rule": "delve"})
    second = _measured("b", _layer("x", 4))
    (layer,) = alike(first, 0.85, second).layers
    assert layer.idim == 1
