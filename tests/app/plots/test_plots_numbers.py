import math

import pytest

from landscope_app.plots.numbers import UNDEFINED, logarithmic_label, percent, short, whole


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.01234, "0.0123"),
        (0.5, "0.500"),
        (1.0, "1.00"),
        (12.345, "12.3"),
        (1234.5, "1,234"),
        (-0.25, "−0.250"),
        (1e7, "1.00·10⁷"),
        (2.5e-5, "2.50·10⁻⁵"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, UNDEFINED),
        (None, UNDEFINED),
    ],
)
def test_that_values_have_three_significant_digits(value: float | None, text: str) -> None:
    assert short(value) == text


def test_that_small_errors_do_not_become_zero() -> None:
    assert short(0.02, 1) == "0.02"


def test_that_shares_are_percentages_and_undefined_ones_a_dash() -> None:
    assert percent(0.4567) == "46 %"
    assert percent(math.nan) == UNDEFINED


def test_that_steps_have_no_decimals() -> None:
    assert (whole(1200.0), whole(0.0), whole(0.5)) == ("1,200", "0", "0.5000")


def test_that_logarithmic_ticks_read_as_values() -> None:
    assert [logarithmic_label(e) for e in (-3, 0, 2, 5)] == ["0.001", "1", "100", "10⁵"]
