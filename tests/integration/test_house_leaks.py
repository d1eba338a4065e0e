"""The watch over what tests leave behind sees each kind, and sees it go."""

from __future__ import annotations

import subprocess
import sys
import threading

import leaks
import pytest


@pytest.fixture(autouse=True)
def little_patience(monkeypatch):
    monkeypatch.setattr(leaks, "PATIENCE_S", 0.2)


def test_that_a_thread_is_seen_until_it_has_ended():
    before, gate = leaks.present(), threading.Event()
    thread = threading.Thread(target=gate.wait, name="straggler", daemon=True)
    thread.start()
    try:
        assert any("straggler" in found for found in leaks.leaked(before))
    finally:
        gate.set()
        thread.join()
    assert leaks.leaked(before) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="children are listed on Linux only")
def test_that_a_child_process_is_seen_until_it_has_ended():
    before = leaks.present()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert leaks.leaked(before) == [f"a child process: {child.pid}"]
    finally:
        child.communicate(b"\n")
    assert leaks.leaked(before) == []


def test_that_a_running_timer_is_seen_until_it_stops(qapp):
    from PySide6.QtCore import QTimer

    before, timer = leaks.present(), QTimer()
    timer.start(60_000)
    assert [found.split(":")[0] for found in leaks.leaked(before)] == ["running in Qt"]
    timer.stop()
    assert leaks.leaked(before) == []


def test_that_a_window_is_seen_until_it_is_deleted(qapp):
    from PySide6.QtWidgets import QWidget

    before, window = leaks.present(), QWidget()
    assert [found.split(":")[0] for found in leaks.leaked(before)] == ["a window"]
    window.deleteLater()
    assert leaks.leaked(before) == []


def test_that_a_running_qthread_is_seen_until_it_has_ended(qapp):
    from PySide6.QtCore import QThread

    before, thread = leaks.present(), QThread()
    thread.start()
    try:
        assert [found.split(":")[0] for found in leaks.leaked(before)] == ["running in Qt"]
    finally:
        thread.quit()
        thread.wait()
    assert leaks.leaked(before) == []
