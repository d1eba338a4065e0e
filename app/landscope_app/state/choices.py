"""What the bar of choices asks for, without Qt: options of the next plane or line, and its job."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from landscope.contract.job import LineJob, PlaneJob
from landscope.contract.options import BatchNormPolicy, LandscapeOptions, PlaneKind, ProjectSpec
from landscope.session.model import Session
from landscope_app.state.cost import Cost, CostModel, policy_of
from landscope_app.state.opening import for_window


@dataclass(frozen=True)
class Choices:
    """One state of the bar.

    Attributes:
        shape: ``plane`` or ``line``. kind: of the plane. base: checkpoint at the centre (a line's end),
            empty = the last. reach: half extent of a random plane. grid: points per axis (a plane) or
            in all (a line). samples: of the data, 0 = all. device: as ``EngineOptions.device``.
    """

    shape: str = "plane"
    kind: PlaneKind = "trajectory"
    base: str = ""
    reach: float = 1.0
    batchnorm: BatchNormPolicy = "auto"
    seed: int = 0
    samples: int = 2048
    grid: int = 33
    device: str = "auto"

    @property
    def evaluations(self) -> int:
        """Points to be measured."""
        return self.grid**2 if self.shape == "plane" else self.grid


def from_project(project: ProjectSpec) -> Choices:
    """What the project says."""
    options = project.landscape or LandscapeOptions()
    return Choices(
        reach=options.reach,
        batchnorm=options.batchnorm,
        seed=options.seed,
        samples=project.data.samples,
        grid=options.grid,
        device=project.engine.device,
    )


def options_of(choices: Choices, project: ProjectSpec) -> LandscapeOptions:
    """The project's landscape options with the choices in place."""
    return replace(
        project.landscape or LandscapeOptions(),
        reach=choices.reach,
        batchnorm=choices.batchnorm,
        seed=choices.seed,
        **{"grid" if choices.shape == "plane" else "points": choices.grid},
    )


def job_of(choices: Choices, project: ProjectSpec, run: str, session: Session) -> PlaneJob | LineJob:
    """The job the choices ask for. A result with other options keeps its own id beside the new one."""
    project = for_window(
        replace(
            project,
            data=replace(project.data, samples=choices.samples),
            engine=replace(project.engine, device=choices.device),
        )
    )
    options = options_of(choices, project)
    if choices.shape == "line":
        name = _free(f"{run}-line", session.lines, choices)
        return LineJob(project=project, id=name, run=run, end=choices.base, options=options)
    name = _free(f"{run}-{choices.kind}", session.planes, choices)
    return PlaneJob(project=project, id=name, run=run, kind=choices.kind, base=choices.base, options=options)


def cost_of(choices: Choices, project: ProjectSpec, run: str, model: CostModel) -> Cost:
    """What the choices will cost."""
    kind = choices.kind if choices.shape == "plane" else "line"
    policy = policy_of(options_of(choices, project), kind)
    return model.expect(run, policy, choices.samples, choices.evaluations)


def _free(name: str, results: object, choices: Choices) -> str:
    """``name`` while no other result has it, else with what makes it different."""
    if not isinstance(results, dict) or name not in results:
        return name
    base = f"-{choices.base}" if choices.base else ""
    return f"{name}-s{choices.seed}-r{choices.reach:g}-{choices.batchnorm}-g{choices.grid}{base}"
