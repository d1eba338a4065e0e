"""The project that a command line means: what its folder says, changed by the flags."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

import msgspec

from landscope.contract.errors import OptionError
from landscope.contract.limits import check
from landscope.contract.options import LandscapeOptions, ProjectSpec, SaturationOptions
from landscope.project.spec import FILE, load_project
from landscope.project.trust import code_folders, may_run, trust


def chosen_project(options: argparse.Namespace) -> ProjectSpec:
    """The project as its folder says, changed by the flags; ``--trust`` is remembered.

    Raises:
        OptionError: a flag has no usable value, or names something that is not there.
    """
    spec = _named(options)
    engine = _changed(spec.engine, device=options.device, threads=options.threads)
    data = _changed(spec.data, samples=options.samples)
    landscape = _changed(
        spec.landscape or LandscapeOptions(),
        grid=options.grid,
        points=options.points,
        reach=options.reach,
        seed=options.seed,
        batchnorm=options.batchnorm,
    )
    saturation = _changed(
        spec.saturation or SaturationOptions(),
        sat_threshold=options.sat_threshold,
        conv_method=options.conv_method,
        timeseries_method=options.timeseries_method,
        idim_rule=options.idim_rule,
        split=options.sat_split,
        layers=None if options.layers is None else tuple(filter(None, options.layers.split(","))),
        row_share=options.row_share,
        embedding=False if options.no_embedding else None,
    )
    changed = msgspec.structs.replace(
        spec,
        engine=engine,
        data=data,
        landscape=landscape,
        saturation=saturation,
        arguments=spec.arguments if options.args is None else _words(options.args),
        weights=spec.weights if options.weights is None else options.weights,
    )
    check(changed)
    if options.trust:
        trust(*code_folders(spec))
    return msgspec.structs.replace(changed, trusted=may_run(spec))


def _named(options: argparse.Namespace) -> ProjectSpec:
    """The project, with the script and the folders of checkpoints that the flags name."""
    script, runs = _script(options.script), tuple(map(_folder, options.runs))
    root = Path(options.project).expanduser().resolve()
    if script and runs and root.is_dir() and not (root / FILE).is_file():
        spec = ProjectSpec(root=str(root), script=script, runs=runs)  # nothing need be looked for
    else:
        spec = load_project(options.project)
        spec = msgspec.structs.replace(spec, script=script or spec.script, runs=runs or spec.runs)
    outside = script and Path(spec.root) not in Path(script).parents
    # Trust is asked for the folder that the code lies in.
    return msgspec.structs.replace(spec, root=str(Path(script).parent)) if outside else spec


def _script(path: Path | None) -> str:
    if path is not None and not path.is_file():
        raise OptionError(f"There is no script {path}.")
    return str(path.resolve()) if path is not None else ""


def _folder(path: Path) -> str:
    if not path.is_dir():
        raise OptionError(f"There is no folder of checkpoints {path}.")
    return str(path.resolve())


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise OptionError(f"--args cannot be split into words: {error}.") from error


def _changed(struct: Any, **flags: Any) -> Any:
    return msgspec.structs.replace(struct, **{k: v for k, v in flags.items() if v is not None})
