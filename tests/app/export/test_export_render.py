import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fake_session import LAYERS, RUNS, fake_session, names
from PIL import Image

from landscope.contract import deltas as d
from landscope.session.model import Session
from landscope.session.write import save
from landscope_app import render
from landscope_app.plots.charts import Chart
from landscope_app.scene.offscreen import NoOpenGLError
from landscope_app.views.shown_planes import Look, Shown

RUN = RUNS[0]


@pytest.fixture(scope="module")
def session_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("session") / "one.h5"
    save(fake_session((RUN,)), path)
    return path


def _flat_names(kind: str) -> set[str]:
    stems = {"saturation", "saturation-map", "losses", "distance", "distance-layers", "distance-map", "line"}
    names = {f"{stem}-{RUN}{'-line' if stem == 'line' else ''}.{kind}" for stem in stems}
    return names | {f"contour-{RUN}-{plane}.{kind}" for plane in ("trajectory", "random")}


def test_that_spectrum_and_samples_of_the_selected_layer_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = fake_session((RUN,))
    session.view = {"selection": {"run": RUN, "layer": LAYERS[1], "threshold": "0.9"}}
    save(session, tmp_path / "one.h5")
    drawn: dict[str, Chart] = {}
    monkeypatch.setattr(
        "landscope_app.export.figures.save_figure",
        lambda charts, path, *_: drawn.update({path.stem: charts[0]}),
    )
    monkeypatch.setattr(render._Rendering, "_surfaces", lambda _: ())
    assert render.main([str(tmp_path / "one.h5"), "-o", str(tmp_path / "out")]) == 0
    assert drawn[f"spectrum-{RUN}"].level == 0.9
    assert len(drawn[f"samples-{RUN}"].points) == 512
    assert "90 % of the variance" in drawn[f"saturation-{RUN}"].note


@pytest.mark.parametrize(
    ("view", "words", "compared"),
    [
        ({"run": RUN, "layer": LAYERS[1], "against": RUNS[1]}, [], {RUN}),
        ({"run": RUN, "layer": LAYERS[1]}, ["--against", RUN], {RUNS[1]}),
        ({"run": RUN, "layer": LAYERS[1]}, [], set()),
    ],
)
def test_that_a_run_is_drawn_beside_the_one_it_is_compared_with(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    view: dict[str, str],
    words: list[str],
    compared: set[str],
) -> None:
    session = fake_session()
    session.view = {"selection": view}
    save(session, tmp_path / "two.h5")
    drawn: dict[str, Chart] = {}
    monkeypatch.setattr(
        "landscope_app.export.figures.save_figure",
        lambda charts, path, *_: drawn.update({path.stem: charts[0]}),
    )
    monkeypatch.setattr(render._Rendering, "_surfaces", lambda _: ())
    assert render.main([str(tmp_path / "two.h5"), "-o", str(tmp_path / "out"), *words]) == 0
    pairs = {RUN: RUNS[1], RUNS[1]: RUN}
    always = ("saturation", "saturation-map", "distance", "distance-layers")
    kinds = {run: (*always, *(("spectrum",) if run == RUN else ())) for run in RUNS}
    found = {name for name in drawn if "-against-" in name}
    assert found == {f"{kind}-{run}-against-{pairs[run]}" for run in compared for kind in kinds[run]}


def test_that_a_run_that_is_not_there_is_no_run_to_compare_with(
    session_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert render.main([str(session_file), "-o", str(tmp_path), "--against", "gone"]) == 2
    assert f"its runs: {RUN}" in capsys.readouterr().err


@pytest.mark.gl
def test_that_a_machine_without_screen_renders_every_picture(session_file: Path, tmp_path: Path) -> None:
    environment = {
        k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    command = [sys.executable, "-m", "landscope_app.render", str(session_file), "-o", str(tmp_path)]
    done = subprocess.run(
        [*command, "--size", "400x300", "--theme", "dark"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    surfaces = {f"surface-{RUN}-{plane}.png" for plane in ("trajectory", "random")}
    assert {p.name for p in tmp_path.iterdir()} == _flat_names("png") | surfaces
    assert {Path(line).name for line in done.stdout.split("\n") if line} == _flat_names("png") | surfaces
    for path in tmp_path.iterdir():
        with Image.open(path) as image:
            assert image.size == (400, 300)


def test_that_without_opengl_maps_are_written_and_it_is_said_once(
    session_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NoOpenGLError("none here")

    monkeypatch.setattr("landscope_app.export.surface.save_surface", refuse)
    code = render.main([str(session_file), "-o", str(tmp_path), "--size", "300x200"])
    assert code == 0
    assert {p.name for p in tmp_path.iterdir()} == _flat_names("png")
    assert capsys.readouterr().err.count("No OpenGL") == 1


def test_that_two_runs_are_drawn_side_by_side_on_one_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, tuple[str, ...]] = {}

    def record(shown: Shown, look: Look, path: Path, *_: object) -> Path:
        drawn[path.name] = tuple(one.id for one in shown.planes)
        return path

    monkeypatch.setattr("landscope_app.export.surface.save_surface", record)
    monkeypatch.setattr("landscope_app.export.figures.save_figure", lambda *_: None)
    path = tmp_path / "two.h5"
    save(fake_session(), path)
    assert render.main([str(path), "-o", str(tmp_path / "out")]) == 0
    assert drawn["compare-trajectory.png"] == tuple(f"{run}-trajectory" for run in RUNS)
    assert drawn[f"surface-{RUN}-random.png"] == (f"{RUN}-random",)
    assert len(drawn) == 6


def test_that_a_file_that_is_no_session_gets_a_sentence_and_code_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.h5"
    bad.write_text("not a session")
    assert render.main([str(bad), "-o", str(tmp_path / "out")]) == 2
    assert "bad.h5" in capsys.readouterr().err


def test_that_an_empty_session_is_said_to_be_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "empty.h5"
    save(Session(), path)
    assert render.main([str(path), "-o", str(tmp_path / "out")]) == 1
    assert "no results yet" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--size", "12"], ["--size", "99999x10"], ["--format", "bmp"]])
def test_that_wrong_options_are_refused(session_file: Path, tmp_path: Path, wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        render.main([str(session_file), "-o", str(tmp_path), *wrong])
    assert caught.value.code == 2


def test_that_matrices_are_drawn_and_of_layers_only_the_selected_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, count = fake_session((RUN,)), len(names())
    values = np.ones((count, count))
    session.apply(d.DistanceMatrices(run=RUN, checkpoints=names(), distance=values, cosine=values))
    session.apply(
        d.SimilarityMeasured(
            run=RUN,
            other=RUN,
            checkpoints=names(),
            others=names(),
            split="train",
            samples=8,
            predictions={"kl": values},
            layers=LAYERS[:3],
            cka=np.ones((3, count, count)),
        )
    )
    session.view = {"selection": {"run": RUN, "layer": LAYERS[1]}}
    save(session, tmp_path / "one.h5")
    drawn: list[str] = []
    monkeypatch.setattr(
        "landscope_app.export.figures.save_figure", lambda _charts, path, *_: drawn.append(path.stem)
    )
    monkeypatch.setattr(render._Rendering, "_surfaces", lambda _: ())
    assert render.main([str(tmp_path / "one.h5"), "-o", str(tmp_path / "out")]) == 0
    wanted = {f"matrix-{kind}-{RUN}-{RUN}" for kind in ("distance", "cosine", "kl")}
    wanted.add(f"matrix-cka-{RUN}-{RUN}-{LAYERS[1]}")
    assert {name for name in drawn if name.startswith("matrix-")} == wanted
