"""How smooth is the real window while a plane of the sample grows? ``python benchmarks/window.py``.

Needs a display (``xvfb-run -a -s "-screen 0 1600x1000x24" python benchmarks/window.py``). Prints, in one run:

- ``start``: seconds from the start of the process to the painted window, as a ratio to the time of
  ``python -c "import torch, PySide6.QtWidgets"``, in turn (goal ≤ 0.3);
- ``first``: seconds after the window shows until the first saturation bars (goal ≤ 3) and the first complete
  coarse surface, 5×5 points (goal ≤ 10);
- ``lateness``: how late a 10 ms timer of the GUI thread fires, and frames painted per second, while the
  camera turns, idle and with partial results arriving (goals: p99 ≤ 20 ms and within 5 ms of idle, max
  ≤ 50 ms, ≥ 20 frames/s on software GL).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from typing import Any

PEER = "import torch, PySide6.QtWidgets"


def start_ratio(rounds: int) -> None:
    """Window and peer in turn, so that a machine that slows down slows both."""
    window, peer, ratios = [], [], []
    for _ in range(rounds + 1):  # the first pair warms the disk cache
        command = [sys.executable, "-m", "landscope_app.main", "--time-to-window", "--grab", os.devnull]
        said = subprocess.run([*command, "--after", "0.2"], capture_output=True, text=True, check=False)
        window.append(float(said.stdout.split("window after ")[1].split(" s")[0]))
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", PEER], check=True)
        peer.append(time.perf_counter() - began)
        ratios.append(window[-1] / peer[-1])
    counted = ratios[1:]
    print(
        f"start: window {statistics.median(window[1:]):.3f} s, peer {statistics.median(peer[1:]):.3f} s, "
        f"ratio median {statistics.median(counted):.2f} (min {min(counted):.2f}, max {max(counted):.2f})"
    )


class Lateness:
    """A 10 ms timer that notes how late it fires, and an orbit that turns the visible camera."""

    def __init__(self, view: Any) -> None:
        from PySide6.QtCore import Qt, QTimer

        self._view = view
        self._late: list[float] = []
        self._last = time.perf_counter()
        self._frames = view.frames_painted
        self._began = self._last
        self._tick = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=10)
        self._tick.timeout.connect(self._note)
        self._turn = QTimer(interval=16)
        self._turn.timeout.connect(lambda: view.set_camera(view.camera().orbit(1.0, 0.0)))
        self._tick.start()
        self._turn.start()

    def _note(self) -> None:
        now = time.perf_counter()
        self._late.append(max(0.0, (now - self._last - 0.010) * 1e3))
        self._last = now

    def report(self, name: str) -> None:
        """Stop and print."""
        self._tick.stop()
        self._turn.stop()
        seconds = time.perf_counter() - self._began
        late = sorted(self._late)
        p50, p99 = late[len(late) // 2], late[int(0.99 * len(late))]
        frames = (self._view.frames_painted - self._frames) / seconds
        print(f"{name:18} late p50 {p50:5.1f} p99 {p99:5.1f} max {late[-1]:6.1f} ms, {frames:5.1f} frames/s")


def wait(app: Any, condition: Any, seconds: float) -> float:
    """Run the event loop until the condition holds; seconds it took, inf if it never did."""
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        app.processEvents()
        if condition():
            return time.perf_counter() - began
        time.sleep(0.002)
    return float("inf")


def run(seconds: float) -> None:
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def grown(session: Any) -> bool:
    return any(5 in plane.levels for plane in session.planes.values())


def live(seconds: float) -> None:
    from landscope_app.main import arguments, bring_up
    from landscope_app.scene.view import SurfaceView

    app, window, close = bring_up(arguments().parse_args(["sample", "--theme", "dark"]))
    shown = time.perf_counter()
    context = window.context

    def bars() -> bool:
        return any(found.measured for found in context.document.session.saturation.values())

    seen: dict[str, float] = {}

    def both() -> bool:
        for name, there in (("bars", bars()), ("surface", grown(context.document.session))):
            if there:
                seen.setdefault(name, time.perf_counter() - shown)
        return len(seen) == 2

    wait(app, both, 120)
    said = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in seen.items())
    print(f"first: {said} after the window shows")
    run(2.0)
    view = next(v for v in window.findChildren(SurfaceView) if v.isVisible())
    busy = Lateness(view)
    run(seconds)
    busy.report("engine at work")
    context.engines.cancel_all()
    wait(app, lambda: not context.engines.busy, 20)
    run(1.0)
    idle = Lateness(view)
    run(seconds)
    idle.report("engine idle")
    window.close_now(discard=True)
    close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-start", action="store_true", help="leave out the start times")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, engine hosts with one thread each")
    if not options.no_start:
        start_ratio(options.rounds)
    live(options.seconds)


if __name__ == "__main__":
    main()
