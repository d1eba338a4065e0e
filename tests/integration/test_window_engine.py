"""The real window over the real engine: results arrive, and a killed engine costs nothing but a sentence."""

import os
import signal
from pathlib import Path

import msgspec
import numpy as np
import pytest

from landscope.contract.job import PlaneJob
from landscope.contract.options import LandscapeOptions
from landscope.session.model import SAMPLED

pytestmark = pytest.mark.gl


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    from window_fakes import settle

    from landscope_app.theme.colors import DARK
    from landscope_app.window import MainWindow
    from landscope_app.work.context import Context

    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))
    context = Context()
    made = MainWindow(context, DARK)
    made.resize(1280, 800)
    made.show()
    yield made
    made.close_now(discard=True)
    context.close()
    made.deleteLater()
    settle()


def state(window, name):
    row = window.context.engines.table.find(name)
    return row.state if row is not None else "missing"


def test_that_everything_about_a_project_arrives_in_the_window(window, real_project):
    from window_fakes import wait_until

    window.opener.show(real_project)
    wait_until(lambda: not window.context.engines.busy, seconds=120)
    session = window.context.document.session
    assert {row.id: row.sentence for row in window.context.engines.table.rows if row.state != "done"} == {}
    assert session.runs["run"].names == tuple(f"step_{step}.pt" for step in range(0, 50, 10))
    assert np.isfinite(session.runs["run"].curve("loss")).all()
    assert len(session.saturation["run/train"].measured) == 5
    assert np.isfinite(session.distances["run"].total("distance", session.runs["run"].names)).all()
    assert (session.lines["run-line"].state == SAMPLED).all()
    assert (session.planes["run-random"].state == SAMPLED).all()
    assert session.planes["run-trajectory"].trajectories["run"].checkpoints[-1] == "step_40.pt"


def test_that_a_single_checkpoint_is_no_trouble_until_somebody_asks_for_more(window, real_project):
    from window_fakes import wait_until

    for step in range(10, 50, 10):
        (Path(real_project.runs[0]) / f"step_{step}.pt").unlink()
    said = []
    window.context.told.connect(lambda *told: said.append(told))
    window.opener.show(real_project)
    wait_until(lambda: not window.context.engines.busy, seconds=120)
    assert (state(window, "run-line"), state(window, "run-random")) == ("failed", "done")
    assert said == []
    asked = window.analyses.again(window.context.engines.table["run-line"])
    wait_until(lambda: state(window, asked) == "failed", seconds=60)
    assert [sentence for _, sentence, _ in said] == [window.context.engines.table[asked].sentence]


def test_that_a_killed_engine_is_one_sentence_and_the_plane_resumes_from_its_points(window, real_project):
    from window_fakes import wait_until

    context = window.context
    window.opener.show(msgspec.structs.replace(real_project, runs=()))
    job = PlaneJob(
        project=real_project, id="big", run="run", kind="random", options=LandscapeOptions(grid=65)
    )
    name = window.analyses.run(job)
    wait_until(lambda: "big" in context.document.session.planes, seconds=60)
    plane = context.document.session.planes["big"]
    wait_until(lambda: (plane.state == SAMPLED).sum() > 30, seconds=60)
    os.kill(context.engines.pid("landscape"), signal.SIGKILL)
    wait_until(lambda: state(window, name) == "failed", seconds=30)
    kept = int((plane.state == SAMPLED).sum())
    before = plane.values["loss"][plane.state == SAMPLED].copy()
    where = plane.state == SAMPLED
    sentences = [line.sentence for line in context.document.session.log if "engine process" in line.sentence]
    assert len(sentences) == 1 and "killed by signal 9" in sentences[0]
    assert window.isVisible() and 30 < kept < 65 * 65

    again = window.analyses.run(job)
    wait_until(lambda: state(window, again) == "done", seconds=120)
    after = context.document.session.planes["big"]
    assert (after.state == SAMPLED).all()
    assert np.array_equal(after.values["loss"][where], before)


ENDLESS = """
    import time
    import torch

    started = time.monotonic()
    while True:
        time.sleep(0.05)

    def build_model():
        return torch.nn.Linear(4, 2)

    def build_data():
        return []
"""


def test_that_a_script_that_trains_at_import_can_be_stopped_and_the_files_are_measured(window, real_project):
    from pathlib import Path
    from textwrap import dedent

    from window_fakes import wait_until

    engines = window.context.engines
    Path(real_project.script).write_text(dedent(ENDLESS))
    window.opener.show(real_project)
    wait_until(lambda: any(row.runs_script for row in engines.table.rows), seconds=60)
    pid = engines.pid("statistics")
    name = next(row.id for row in engines.table.rows if row.runs_script)
    engines.cancel(name)
    wait_until(lambda: not engines.busy, seconds=60)
    assert engines.pid("statistics") != pid
    states = {row.id: row.state for row in engines.table.rows}
    assert {states.pop("list"), states.pop("run-distance")} == {"done"}
    assert set(states.values()) == {"cancelled"}
    session = window.context.document.session
    assert np.isfinite(session.distances["run"].total("distance", session.runs["run"].names)).all()
