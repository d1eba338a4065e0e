import numpy as np
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from msgspec.structs import replace

from landscope.contract.deltas import SaturationMeasured
from landscope.contract.errors import OptionError
from landscope.session.model import Session
from landscope.session.threshold import at_threshold
from landscope_app.plots.saturation_columns import column_of
from landscope_app.plots.saturation_frame import Frame, Frames
from landscope_app.plots.slices import at_once


def _measured() -> SaturationMeasured:
    """Layers of many widths: whole spectra, dead ones, ones with a tie at a threshold, one without value."""
    first = next(iter(next(iter(fake_session((RUNS[0],)).saturation.values())).measured.values()))
    rng = np.random.default_rng(0)
    spectra = [np.sort(rng.random(width) ** 6)[::-1] for width in (1, 2, 3, 64, 65, 500)]
    spectra += [np.zeros(4), np.ones(4), np.array([1.0, 0.0, 0.0])]
    layers = [
        replace(first.layers[0], layer=f"l{k}", dimension=len(s), spectrum=s) for k, s in enumerate(spectra)
    ]
    layers.append(replace(first.layers[0], layer="empty", lsat=float("nan"), spectrum=np.empty(0)))
    layers.append(replace(first.layers[0], layer="lost", lsat=float("nan")))
    return replace(first, layers=tuple(layers))


@pytest.mark.parametrize("rule", ["smallest_k", "delve"])
@pytest.mark.parametrize("threshold", [0.01, 0.25, 0.5, 0.75, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("key", ["lsat", "idim"])
def test_that_columns_say_the_same_as_the_layers_one_by_one(key: str, threshold: float, rule: str) -> None:
    measured = _measured()
    expected = [one.value(key) for one in at_threshold(measured, threshold, rule).layers]  # type: ignore[arg-type]
    np.testing.assert_array_equal(column_of(measured).values(key, threshold, rule), expected)  # type: ignore[arg-type]


def test_that_other_statistics_and_the_measured_threshold_stay_as_measured() -> None:
    measured = _measured()
    column = column_of(measured)
    assert list(column.values("trace", 0.5)) == [one.trace for one in measured.layers]
    np.testing.assert_array_equal(column.values("lsat", None), [one.lsat for one in measured.layers])


def test_that_a_threshold_that_is_none_is_refused() -> None:
    with pytest.raises(OptionError):
        column_of(_measured()).values("lsat", 1.5)


def test_that_a_checkpoint_without_layers_is_an_empty_column() -> None:
    assert len(column_of(replace(_measured(), layers=())).values("lsat", 0.5)) == 0


def _frame(frames: Frames, session: Session) -> Frame:
    return at_once(frames.frame(session, RUNS[0], "train", ""))


def test_that_a_frame_is_made_anew_only_when_something_in_it_is_measured_anew() -> None:
    session, frames = fake_session((RUNS[0],)), Frames()
    first = _frame(frames, session)
    assert _frame(frames, session) is first
    measured = next(iter(session.saturation.values())).measured
    name = names()[3]
    measured[name] = replace(measured[name], layers=measured[name].layers[:-1])
    second = _frame(frames, session)
    assert second.ours[3] is not first.ours[3]
    assert second.ours[2] is first.ours[2]
    assert second.ours_cells.samples[LAYERS.index("head"), 3] == 0
