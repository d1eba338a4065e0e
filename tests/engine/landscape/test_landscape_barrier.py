"""Barriers by both definitions, from numbers that can be checked by hand."""

import numpy as np
import pytest

from landscope.landscape.barrier import barrier


def test_that_both_definitions_are_met():
    t, loss = np.array([0, 0.25, 0.5, 0.75, 1]), np.array([1.0, 2.0, 5.0, 4.0, 3.0])
    found = barrier(t, loss)
    assert found.frankle == pytest.approx(5 - 2) and found.frankle_at == 0.5
    assert found.entezari == pytest.approx(5 - 2) and found.entezari_at == 0.5
    skewed = barrier(t, np.array([0.0, 1.0, 2.0, 3.0, 4.0]))
    assert skewed.frankle == pytest.approx(2) and skewed.frankle_at == 1
    assert skewed.entezari == pytest.approx(0)


def test_that_what_lies_beyond_the_ends_does_not_count():
    t = np.array([-0.5, 0, 0.5, 1, 1.5])
    assert barrier(t, np.array([99.0, 1, 2, 1, 99])).frankle == pytest.approx(1)


def test_that_the_order_of_points_does_not_matter():
    t, loss = np.array([1, 0, 0.5]), np.array([2.0, 1.0, 9.0])
    assert barrier(t, loss) == barrier(np.sort(t), loss[[1, 2, 0]])


def test_that_a_diverged_middle_is_infinitely_high_and_a_diverged_end_says_nothing():
    t = np.array([0, 0.5, 1])
    assert barrier(t, np.array([1, np.nan, 1])).frankle == np.inf
    assert np.isnan(barrier(t, np.array([np.nan, 1, 1])).entezari)


def test_that_both_ends_are_needed():
    with pytest.raises(ValueError, match="both ends"):
        barrier(np.array([0, 0.5]), np.array([1.0, 2.0]))
