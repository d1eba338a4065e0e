"""Faults of Python and Qt together that must not come back with another version."""

from __future__ import annotations

import sys

import pytest

CALLS = 100


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal from Python 3.12 on")
def test_that_calls_which_return_none_take_no_reference_of_it_away():
    from PySide6.QtCore import QRect

    rectangle = QRect()
    before = sys.getrefcount(None)
    for width in range(CALLS):
        rectangle.setWidth(width)
    assert sys.getrefcount(None) > before - CALLS // 2
