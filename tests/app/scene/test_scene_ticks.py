import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscope_app.scene.ticks import axis_ticks, nice_step, power_text, scientific

SPANS = st.floats(1e-6, 1e9)
LOWS = st.floats(-1e6, 1e6)


@settings(deadline=None)
@given(SPANS, st.integers(1, 12))
def test_that_a_step_is_round_and_gives_at_most_the_wanted_count(span: float, count: int) -> None:
    step = nice_step(span, count)
    assert span / step <= count * (1 + 1e-6)
    mantissa = step / 10 ** np.floor(np.log10(step) + 1e-9)
    assert min(abs(mantissa - m) for m in (1, 2, 2.5, 5)) < 1e-6


@settings(deadline=None)
@given(LOWS, st.floats(1e-2, 1e7))
def test_that_linear_ticks_increase_lie_inside_and_read_apart(low: float, span: float) -> None:
    ticks = axis_ticks(low, low + span, 5)
    assert len(ticks.positions) == len(ticks.texts) >= 1
    assert (np.diff(ticks.positions) > 0).all()
    assert (ticks.positions >= low - 1e-6 * span).all()
    assert (ticks.positions <= low + span * (1 + 1e-6)).all()


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (-1, 1, ("−1.0", "−0.5", "0.0", "0.5", "1.0")),
        (0, 10, ("0", "2", "4", "6", "8", "10")),
        (0.1, 0.52, ("0.1", "0.2", "0.3", "0.4", "0.5")),
        (0, 1.2, ("0.00", "0.25", "0.50", "0.75", "1.00")),
        (0, 5e6, ("0", "10⁶", "2×10⁶", "3×10⁶", "4×10⁶", "5×10⁶")),
    ],
)
def test_that_linear_texts_have_just_enough_decimals(low: float, high: float, texts: tuple[str, ...]) -> None:
    assert axis_ticks(low, high, 5).texts == texts


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (-2, 2, ("0.01", "0.1", "1", "10", "100")),
        (-8, 8, ("10⁻⁸", "10⁻⁴", "1", "10⁴", "10⁸")),
        (0, 1, ("1", "2", "5", "10")),
    ],
)
def test_that_log_texts_name_the_value_and_not_its_logarithm(
    low: float, high: float, texts: tuple[str, ...]
) -> None:
    ticks = axis_ticks(low, high, 5, log_scale=True)
    assert ticks.texts == texts


def test_that_a_narrow_log_axis_still_has_two_ticks_at_their_values() -> None:
    ticks = axis_ticks(np.log10(2.31), np.log10(2.48), 5, log_scale=True)
    assert len(ticks.texts) >= 2
    assert 10**ticks.positions == pytest.approx([float(t) for t in ticks.texts])


def test_that_powers_are_plain_near_one_and_short_far_away() -> None:
    assert [power_text(e) for e in (-3, 0, 3)] == ["0.001", "1", "1000"]
    assert power_text(-5) == "10⁻⁵"
    assert scientific(-2.5e7) == "−2.5×10⁷"
