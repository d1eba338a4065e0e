"""The Python face: open a project, ask for a result, get arrays.

Everything runs in this process, on this thread; the same jobs as in the window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import SimilarityMeasured
from landscope.contract.errors import LandscopeError, OptionError
from landscope.contract.events import Event, Failed, Partial
from landscope.contract.job import (
    AnyJob,
    CancelToken,
    DistanceJob,
    EvaluateJob,
    GradientJob,
    LineJob,
    ListJob,
    PlaneJob,
    SaturationJob,
    SimilarityJob,
)
from landscope.contract.options import (
    DistanceOptions,
    FunctionOptions,
    LandscapeOptions,
    PlaneKind,
    ProjectSpec,
    SaturationOptions,
)
from landscope.runner.bench import Bench
from landscope.runner.run import run_job
from landscope.session.model import Distances, Line, Plane, Saturation, Session


class PlaneResult:
    """A plane as arrays.

    Attributes:
        values: (A, B) float64 loss; axis 0 = alpha, axis 1 = beta. ``np.asarray(result)`` is the same.
        alpha, beta: (A,), (B,) coordinates in units of the directions.
        metrics: every metric, each (A, B). plane: all that is known, as in the session.
    """

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        self.alpha: NDArray[Any] = plane.opened.alpha
        self.beta: NDArray[Any] = plane.opened.beta
        self.metrics = plane.values
        self.values = plane.values["loss"]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The loss, for numpy."""
        return np.array(self.values, dtype=dtype, copy=copy)


class LineResult:
    """A line as arrays: ``values`` (N,) float64 loss at ``coordinates`` (N,); ``metrics`` every metric."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.coordinates: NDArray[Any] = line.opened.coordinates
        self.metrics = line.values
        self.values = line.values["loss"]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The loss, for numpy."""
        return np.array(self.values, dtype=dtype, copy=copy)


class Project:
    """A project in this process. Results collect in ``session``, as they do in the window.

    Args:
        spec: what the project is; see ``open_project``.
        listen: called with every event, for progress.
    """

    def __init__(self, spec: ProjectSpec, listen: Callable[[Event], None] | None = None) -> None:
        self.spec = spec
        self.session = Session(title=Path(spec.root).name, project=spec)
        self._listen = listen
        self._bench = Bench()
        self._count = 0

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        from landscope.project.spec import run_names

        return tuple(run_names(self.spec))

    def checkpoints(self, run: str | None = None) -> tuple[str, ...]:
        """Names of a run's ready checkpoints in training order."""
        name = self._run(run)
        if name not in self.session.runs:
            self._do("list", ListJob(project=self.spec))
        return self.session.runs[name].names

    def losses(self, run: str | None = None, split: str = "train") -> NDArray[np.float64]:
        """(M,) loss of every checkpoint of a run."""
        name = self._run(run)
        self._do("losses", EvaluateJob(project=self.spec, run=name))
        return self.session.runs[name].curve("loss", split)

    def saturation(self, run: str | None = None, **options: Any) -> Saturation:
        """Saturation of every layer at every checkpoint; options as in ``SaturationOptions``."""
        name = self._run(run)
        chosen = _options(SaturationOptions, self.spec.saturation, options)
        self._do("saturation", SaturationJob(project=self.spec, run=name, options=chosen))
        return self.session.saturation[f"{name}/{chosen.split}"]

    def distances(self, run: str | None = None, **options: Any) -> Distances:
        """Distance quantities of a run, from its files alone; options as in ``DistanceOptions``."""
        name = self._run(run)
        self.checkpoints(name)
        chosen = _options(DistanceOptions, self.spec.distance, options)
        self._do("distance", DistanceJob(project=self.spec, run=name, options=chosen))
        return self.session.distances[name]

    def gradients(self, run: str | None = None, **options: Any) -> Distances:
        """``gradient_norm`` of the mean loss at every checkpoint; options as in ``FunctionOptions``."""
        name = self._run(run)
        chosen = _options(FunctionOptions, None, options)
        self._do("gradients", GradientJob(project=self.spec, run=name, options=chosen))
        return self.session.gradients[name]

    def similarity(self, run: str | None = None, other: str = "", **options: Any) -> SimilarityMeasured:
        """Predictions and layers compared, checkpoint by checkpoint; options as in ``FunctionOptions``.

        ``other``: a run whose checkpoints are the columns; empty = the same run.
        """
        name = self._run(run)
        chosen = _options(FunctionOptions, None, options)
        self._do("similarity", SimilarityJob(project=self.spec, run=name, other=other, options=chosen))
        return self.session.similarities[name, other or name]

    def line(self, start: str = "", end: str = "", run: str | None = None, **options: Any) -> LineResult:
        """Loss along the line between two checkpoints; options as in ``LandscapeOptions``."""
        name, key = self._run(run), self._new("line")
        chosen = _options(LandscapeOptions, self.spec.landscape, options)
        self._do(key, LineJob(project=self.spec, id=key, run=name, start=start, end=end, options=chosen))
        return LineResult(self.session.lines[key])

    def plane(
        self, kind: PlaneKind = "random", base: str = "", run: str | None = None, **options: Any
    ) -> PlaneResult:
        """Loss over a plane; options as in ``LandscapeOptions`` (``grid=9``, ``reach=1.0``, ``seed=0``…)."""
        name, key = self._run(run), self._new("plane")
        chosen = _options(LandscapeOptions, self.spec.landscape, options)
        self._do(key, PlaneJob(project=self.spec, id=key, run=name, kind=kind, base=base, options=chosen))
        return PlaneResult(self.session.planes[key])

    def save(self, path: str | Path) -> Path:
        """Write everything found so far to one HDF5 session file.

        Raises:
            SessionError: the file cannot be written.
        """
        from landscope.session.write import save

        save(self.session, Path(path))
        return Path(path)

    def _run(self, name: str | None) -> str:
        if not self.runs:
            raise OptionError(f"{self.spec.root} has no folder with checkpoints in it.")
        if name is not None and name not in self.runs:
            raise OptionError(f"There is no run called “{name}”; known runs: {', '.join(self.runs)}.")
        return self.runs[0] if name is None else name

    def _new(self, what: str) -> str:
        self._count += 1
        return f"{what}-{self._count}"

    def _do(self, name: str, job: AnyJob) -> None:
        for event in run_job(name, job, self._bench, CancelToken()):
            if self._listen is not None:
                self._listen(event)
            if isinstance(event.body, Partial):
                self.session.apply(event.body.delta)
            elif isinstance(event.body, Failed):
                raise LandscopeError(event.body.sentence, event.body.detail)


def _options(kind: Any, base: Any, changes: dict[str, Any]) -> Any:
    """The project's own options with changes, checked."""
    fields = {f.name for f in msgspec.structs.fields(kind)}
    unknown = sorted(set(changes) - fields)
    if unknown:
        raise OptionError(f"Unknown option {', '.join(unknown)}; known: {', '.join(sorted(fields))}.")
    changed = msgspec.structs.replace(base or kind(), **changes)
    try:
        return msgspec.convert(msgspec.to_builtins(changed), kind)
    except msgspec.ValidationError as error:
        raise OptionError(f"An option has an unusable value: {error}.") from error


def open_project(
    path: str | Path,
    *,
    trust: bool | None = None,
    device: str = "",
    samples: int | None = None,
    arguments: Sequence[str] | None = None,
    weights: str | None = None,
) -> Project:
    """Open a folder, a model script, a ``landscope.toml`` or the word ``sample``.

    Args:
        path: what to open.
        trust: whether code of that folder may run; None = as remembered. Calling this from your own
            program is not taken as trust.
        device: ``cpu``, ``cuda``, ``mps``; empty = as the project says.
        samples: samples per split; None = as the project says.
        arguments: what the script finds in ``sys.argv`` after its name; None = as the project says.
        weights: set of weights to measure, by its name in the files, or ``averaged``; None = as the project
            says.

    Raises:
        LandscopeError: there is nothing to open, or it cannot be read.
    """
    from landscope.project.spec import load_project

    spec = load_project(path)
    engine = msgspec.structs.replace(spec.engine, device=device) if device else spec.engine
    data = spec.data if samples is None else msgspec.structs.replace(spec.data, samples=samples)
    changed = msgspec.structs.replace(
        spec,
        engine=engine,
        data=data,
        trusted=_trusted(spec) if trust is None else trust,
        arguments=spec.arguments if arguments is None else tuple(arguments),
        weights=spec.weights if weights is None else weights,
    )
    return Project(changed)


def _trusted(spec: ProjectSpec) -> bool:
    from landscope.project.trust import may_run

    return may_run(spec)
