"""Sessions of every shape for the round trips, and a data folder of the test's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from landscope.contract import deltas as d
from landscope.contract.options import EngineOptions, LandscapeOptions, ProjectSpec
from landscope.session.model import LogLine, Session

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12
) | st.sampled_from(("resnet", "top-5/acc", "..", "quantity_0001", "state", "alpha", "α · 78 %", "loss_se"))
FLOATS = st.floats(width=64)
SETTINGS = st.dictionaries(NAMES, st.none() | st.booleans() | st.integers(-9, 9) | FLOATS | NAMES, max_size=3)
STEPS = st.none() | st.integers(-(2**40), 2**40)


def floats(*shape: int) -> st.SearchStrategy[Any]:
    """Arrays of any float64, NaN and inf included."""
    return hnp.arrays(np.float64, shape, elements=FLOATS)


def metrics(*shape: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(NAMES | st.just("loss"), floats(*shape), max_size=4)


@st.composite
def checkpoint_infos(draw: st.DrawFn, name: str) -> d.CheckpointInfo:
    return d.CheckpointInfo(
        name=name,
        state=draw(st.sampled_from(("ready", "waiting", "skipped"))),
        reason=draw(st.just("") | NAMES),
        step=draw(STEPS),
        epoch=draw(STEPS),
        size=draw(st.integers(0, 2**50)),
        sha256=draw(st.sampled_from(("", "ab" * 32))),
        aliases=tuple(draw(st.lists(NAMES, max_size=2))),
        notes=tuple(draw(st.lists(NAMES, max_size=2))),
    )


@st.composite
def runs(draw: st.DrawFn, run: str) -> list[d.AnyDelta]:
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    infos = tuple(draw(checkpoint_infos(name)) for name in names)
    ready = draw(st.integers(0, len(infos)))
    found: list[d.AnyDelta] = [
        d.RunListed(run=run, folder=draw(NAMES), checkpoints=infos[:ready], others=infos[ready:])
    ]
    for name in [*names, "gone.pt"]:
        for split in draw(st.lists(st.sampled_from(("train", "test")), unique=True)):
            found.append(
                d.CheckpointMeasured(
                    run=run,
                    checkpoint=name,
                    split=split,
                    loss=draw(FLOATS),
                    loss_se=draw(FLOATS),
                    metrics=draw(st.dictionaries(NAMES, FLOATS, max_size=3)),
                    samples=draw(st.integers(0, 10**9)),
                )
            )
    return found


@st.composite
def layers(draw: st.DrawFn) -> d.LayerSaturation:
    points = draw(st.integers(0, 3))
    return d.LayerSaturation(
        layer=draw(NAMES),
        kind=draw(st.sampled_from(("Linear", "Conv2d"))),
        dimension=draw(st.integers(0, 4096)),
        samples=draw(st.integers(0, 10**9)),
        idim=draw(st.integers(0, 64)),
        lsat=draw(FLOATS),
        trace=draw(FLOATS),
        participation_ratio=draw(FLOATS),
        effective_rank=draw(FLOATS),
        spectrum=draw(floats(draw(st.integers(0, 5)))),
        nonfinite=draw(st.integers(0, 9)),
        flags=tuple(draw(st.lists(st.sampled_from(("dead", "nonfinite")), unique=True))),
        embedding=draw(hnp.arrays(np.float32, (points, 2), elements=st.floats(width=32))),
        labels=draw(hnp.arrays(np.int64, points)),
        items=draw(hnp.arrays(np.int64, points, elements=st.integers(-1, 2**40))),
    )


@st.composite
def saturations(draw: st.DrawFn, run: str) -> list[d.AnyDelta]:
    return [
        d.SaturationMeasured(
            run=run,
            checkpoint=name,
            mode=draw(st.sampled_from(("eval", "train"))),
            threshold=draw(FLOATS),
            layers=tuple(draw(st.lists(layers(), max_size=4))),
            not_observed=tuple(
                d.NotObserved(layer=one, reason="functional") for one in draw(st.lists(NAMES, max_size=2))
            ),
            settings=draw(SETTINGS),
        )
        for name in draw(st.lists(NAMES, max_size=3, unique=True))
    ]


@st.composite
def rows_of(draw: st.DrawFn, run: str, opened: Any, measured: Any) -> list[d.AnyDelta]:
    """A frame of parameters and layers, and values at some checkpoints."""
    parameters = tuple(draw(st.lists(NAMES, max_size=3, unique=True)))
    modules = tuple(draw(st.lists(NAMES, max_size=2, unique=True)))
    found: list[d.AnyDelta] = [
        opened(
            run=run,
            reference=draw(NAMES),
            reference_step=draw(STEPS),
            parameters=parameters,
            sizes=np.arange(len(parameters)),
            layers=modules,
            layer_of=np.zeros(len(parameters), np.int64),
            flags=tuple(tuple(draw(st.lists(NAMES, max_size=2))) for _ in parameters),
        )
    ]
    for name in draw(st.lists(NAMES, max_size=3, unique=True)):
        found.append(
            measured(
                run=run,
                checkpoint=name,
                parameters=draw(metrics(len(parameters))),
                layers=draw(metrics(len(modules))),
                total=draw(st.dictionaries(NAMES, FLOATS, max_size=3)),
            )
        )
    return found


@st.composite
def distances(draw: st.DrawFn, run: str) -> list[d.AnyDelta]:
    found = draw(rows_of(run, d.DistanceOpened, d.DistancesMeasured))
    names = tuple(one.checkpoint for one in found[1:])
    if draw(st.booleans()):
        square = floats(len(names), len(names))
        found.append(
            d.DistanceMatrices(run=run, checkpoints=names, distance=draw(square), cosine=draw(square))
        )
    return found


@st.composite
def gradients(draw: st.DrawFn, run: str) -> list[d.AnyDelta]:
    opened = partial(d.GradientOpened, split=draw(NAMES), samples=draw(st.integers(0, 2**40)))
    return draw(rows_of(run, opened, d.GradientsMeasured))


@st.composite
def similarities(draw: st.DrawFn, run: str) -> list[d.AnyDelta]:
    rows, columns, layers = (tuple(draw(st.lists(NAMES, max_size=2, unique=True))) for _ in range(3))
    return [
        d.SimilarityMeasured(
            run=run,
            other=draw(NAMES),
            checkpoints=rows,
            others=columns,
            split=draw(NAMES),
            samples=draw(st.integers(0, 2**40)),
            predictions=draw(metrics(len(rows), len(columns))),
            layers=layers,
            cka=draw(floats(len(layers), len(rows), len(columns))),
            not_observed=tuple(d.NotObserved(layer=one, reason="functional") for one in layers),
            settings=draw(SETTINGS),
        )
    ]


@st.composite
def lines(draw: st.DrawFn, key: str) -> list[d.AnyDelta]:
    count = draw(st.integers(0, 7))
    opened = d.LineOpened(
        id=key,
        run=draw(NAMES),
        title=draw(NAMES),
        start=draw(NAMES),
        end=draw(NAMES),
        coordinates=draw(floats(count)),
        settings=draw(SETTINGS),
    )
    where = draw(hnp.arrays(np.int64, draw(st.integers(0, 4)), elements=st.integers(0, max(0, count - 1))))
    where = np.unique(where[where < count])
    return [opened, d.LinePoints(id=key, indices=where, values=draw(metrics(len(where))))]


@st.composite
def planes(draw: st.DrawFn, key: str) -> list[d.AnyDelta]:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    found: list[d.AnyDelta] = [
        d.PlaneOpened(
            id=key,
            run=draw(NAMES),
            title=draw(NAMES),
            kind=draw(st.sampled_from(("random", "trajectory"))),
            base=draw(NAMES),
            alpha=draw(floats(rows)),
            beta=draw(floats(columns)),
            axis_titles=(draw(NAMES), draw(NAMES)),
            settings=draw(SETTINGS),
        )
    ]
    for _ in range(draw(st.integers(0, 2))):
        cells = np.unique(draw(hnp.arrays(np.int64, 4, elements=st.integers(0, rows * columns - 1))))
        at = np.unravel_index(cells, (rows, columns))
        found.append(d.PlanePoints(id=key, rows=at[0], columns=at[1], values=draw(metrics(len(cells)))))
    found += [d.PlaneLevel(id=key, points=points, surplus=draw(FLOATS)) for points in (5, 9)]
    for run in draw(st.lists(NAMES, max_size=2, unique=True)):
        names = tuple(draw(st.lists(NAMES, max_size=3, unique=True)))
        each = floats(len(names))
        found.append(
            d.TrajectoryMeasured(
                plane=key,
                run=run,
                checkpoints=names,
                coordinates=draw(floats(len(names), 2)),
                residuals=draw(each),
                true_loss=draw(each),
                plane_loss=draw(each),
                explained=draw(floats(2)),
            )
        )
    return found


PARTS = (runs, saturations, distances, gradients, similarities)


@st.composite
def delta_rows(draw: st.DrawFn) -> list[d.AnyDelta]:
    """Deltas of any kinds, in an order in which an analysis could send them."""
    found: list[d.AnyDelta] = []
    for run in draw(st.lists(NAMES, max_size=2, unique=True)):
        for kind in draw(st.lists(st.sampled_from(PARTS), max_size=3)):
            found += draw(kind(run))
    for key in draw(st.lists(NAMES, max_size=2, unique=True)):
        found += draw(draw(st.sampled_from((lines, planes)))(key))
    return [*found, d.Provenance(facts=draw(st.dictionaries(NAMES, NAMES, max_size=3)))]


@st.composite
def projects(draw: st.DrawFn) -> ProjectSpec:
    return ProjectSpec(
        root=draw(NAMES),
        runs=tuple(draw(st.lists(NAMES, max_size=2))),
        engine=EngineOptions(threads=draw(st.integers(0, 4))),
        landscape=LandscapeOptions(reach=draw(FLOATS)),
    )


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    session = Session(
        title=draw(NAMES),
        project=draw(st.none() | projects()),
        settings=draw(SETTINGS),
        view=draw(st.dictionaries(NAMES, FLOATS | st.lists(NAMES, max_size=2) | SETTINGS, max_size=3)),
        log=[
            LogLine(time=draw(FLOATS), level="info", sentence=one, detail=draw(st.just("") | NAMES))
            for one in draw(st.lists(NAMES, max_size=3))
        ],
    )
    for delta in draw(delta_rows()):
        session.apply(delta)
    return session


def plain(value: Any) -> Any:
    """A value that compares equal exactly when every number and text in it is the same, NaN included."""
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray):
        kind = "f" if value.dtype.kind == "f" else "i"
        return [kind, value.shape, [repr(one) for one in value.reshape(-1).tolist()]]
    return repr(value) if isinstance(value, float) else value


@pytest.fixture(scope="session")
def any_session() -> st.SearchStrategy[Session]:
    return sessions()


@pytest.fixture(scope="session")
def as_plain() -> Any:
    return plain


@pytest.fixture(autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def small_session() -> Session:
    """A run with two checkpoints and a half-sampled 5×5 plane."""
    session = Session(title="small")
    infos = tuple(d.CheckpointInfo(name=f"step_{step}.pt", step=step) for step in (0, 10))
    session.apply(d.RunListed(run="net", folder="runs/net", checkpoints=infos))
    axis = np.linspace(-1, 1, 5)
    session.apply(
        d.PlaneOpened(
            id="p",
            run="net",
            title="plane",
            kind="random",
            base="step_10.pt",
            alpha=axis,
            beta=axis,
            axis_titles=("α", "β"),
            settings={"seed": 0},
        )
    )
    rows = np.arange(5)
    session.apply(d.PlanePoints(id="p", rows=rows, columns=rows, values={"loss": rows / 3}))
    return session
