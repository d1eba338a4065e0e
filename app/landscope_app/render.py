"""``landscope render``: the pictures of a session as files, without a screen."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from landscope.contract.errors import LandscopeError

if TYPE_CHECKING:
    from landscope.session.model import Session
    from landscope_app.plots.charts import Chart
    from landscope_app.plots.landscape_chart import Display
    from landscope_app.state.camera import Camera
    from landscope_app.theme.colors import Theme

SIZE = (1280, 860)
MOST_PIXELS = 16384
_GOOD, _FAILED, _WRONG_USE = 0, 1, 2


def main(argv: list[str] | None = None) -> int:
    """Write every picture of a session to a folder, one printed line per file.

    Returns 0 when all was written, 1 when something failed, 2 when the command was wrong or the session
    cannot be read.
    """
    options = _parser().parse_args(argv)
    try:
        from landscope.session.read import read

        session = read(options.session)
        _check_run(options.against, session)
        options.output.mkdir(parents=True, exist_ok=True)
    except LandscopeError as error:
        print(f"landscope: {error.sentence}", file=sys.stderr)
        return _WRONG_USE
    except OSError as error:
        sentence = f"{options.output} cannot be used as a folder: {error.strerror or error}."
        print(f"landscope: {sentence}", file=sys.stderr)
        return _WRONG_USE
    return _Rendering(session, options).write()


class _Rendering:
    """One session on its way to a folder."""

    def __init__(self, session: Session, options: argparse.Namespace) -> None:
        from landscope_app.export.figure_style import PICTURE_THEMES

        self._session, self._options = session, options
        self._theme: Theme = PICTURE_THEMES[options.theme]
        self._failures = 0
        self._has_gl = True

    def write(self) -> int:
        """Write everything; a picture that fails is said and the rest goes on."""
        written = 0
        for name, chart in self._charts():
            for kind in self._options.format:
                written += self._try(partial(self._save_chart, chart), f"{name}.{kind}")
        for name, planes in self._surfaces():
            written += self._try(partial(self._save_surface, planes), f"{name}.png")
        if not written and not self._failures:
            print("This session holds no results yet, so there is nothing to draw.", file=sys.stderr)
        return _FAILED if self._failures or not written else _GOOD

    def _try(self, save: Callable[[Path], bool], file_name: str) -> int:
        path = self._options.output / file_name
        try:
            done = save(path)
        except LandscopeError as error:
            print(f"{file_name}: {error.sentence}", file=sys.stderr)
            self._failures += 1
            return 0
        if done:
            print(path)
        return int(done)

    def _save_chart(self, chart: Chart, path: Path) -> bool:
        from landscope_app.export.figures import save_figure

        width, height = self._options.size
        save_figure((chart,), path, self._theme, width, height, self._options.transparent)
        return True

    def _save_surface(self, names: tuple[str, ...], path: Path) -> bool:
        """Draw planes in 3-D on one scale; where nothing can, say so once: the maps are written anyway."""
        if not self._has_gl:
            return False
        from landscope_app.export.surface import save_surface
        from landscope_app.scene.offscreen import NoOpenGLError
        from landscope_app.views.shown_planes import Look, prepare

        view = self._view()
        shown = prepare(self._session, names, _display(view))
        if shown is None or len(shown.planes) < len(names):
            return False
        look = Look(self._theme, _camera(view), self._last(self._session.planes[names[0]].opened.run))
        width, height = self._options.size
        width = min(MOST_PIXELS, width * len(names))
        try:
            _load_fonts()
            save_surface(shown, look, path, width, height, self._options.transparent)
        except NoOpenGLError:
            self._has_gl = False
            print("No OpenGL was found here, so planes are drawn as contour maps only.", file=sys.stderr)
            return False
        return True

    def _surfaces(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Every plane alone, then the first two runs side by side for each kind of plane."""
        kinds: dict[str, list[str]] = {}
        for name, plane in self._session.planes.items():
            yield f"surface-{_plain(name)}", (name,)
            kinds.setdefault(plane.opened.kind, []).append(name)
        for kind, names in kinds.items():
            runs = {self._session.planes[name].opened.run: name for name in reversed(names)}
            if len(runs) > 1:
                first, second = [runs[run] for run in self._session.runs if run in runs][:2]
                yield f"compare-{_plain(kind)}", (first, second)

    def _charts(self) -> Iterator[tuple[str, Chart]]:
        yield from self._run_charts()
        from landscope_app.plots.landscape_chart import field_chart, line_chart

        display = _display(self._view())
        for name, line in self._session.lines.items():
            if line.values:
                yield f"line-{_plain(name)}", line_chart(self._session, name)
        for name, plane in self._session.planes.items():
            chart = field_chart(self._session, name, self._last(plane.opened.run), display)
            if chart is not None:
                yield f"contour-{_plain(name)}", chart

    def _run_charts(self) -> Iterator[tuple[str, Chart]]:
        from landscope_app.plots.loss_chart import loss_chart

        session = self._session
        for run in session.runs:
            yield from self._saturation_charts(run, "")
            if self._against(run):
                yield from self._saturation_charts(run, self._against(run))
            losses = loss_chart(session, run)
            if losses.series:
                yield f"losses-{_plain(run)}", losses
            yield from self._distance_charts(run)
        from landscope_app.plots.matrices import all_matrices

        for key, matrix in all_matrices(session):
            layer = str(self._chosen(key.run).get("layer", ""))
            if key.layer in ("", layer):  # hundreds of layers would be hundreds of pictures
                yield f"matrix-{_plain(key.text)}", matrix

    def _distance_charts(self, run: str) -> Iterator[tuple[str, Chart]]:
        """Curves and map of the chosen quantity; beside another run, the curves once more."""
        from landscope_app.plots.distance_chart import CurveChoice, distance_chart
        from landscope_app.plots.distance_map import distance_map
        from landscope_app.plots.quantities import offered

        session, chosen = self._session, str(self._chosen(run).get("quantity", ""))
        key = chosen if chosen in [one.key for one in offered(session, run)] else "distance"
        for scope, name in (("total", "distance"), ("layers", "distance-layers")):
            for other in dict.fromkeys(("", self._against(run))):
                chart = distance_chart(session, run, key=key, choice=CurveChoice(scope, other=other))
                if chart.series:
                    yield f"{name}-{_plain(run)}{f'-against-{_plain(other)}' if other else ''}", chart
        found = distance_map(session, run, key)
        if found.rows:
            yield f"distance-map-{_plain(run)}", found

    def _saturation_charts(self, run: str, other: str) -> Iterator[tuple[str, Chart]]:
        """Bars, map and the selected layer of a run, alone or beside another run."""
        from landscope_app.plots.samples_chart import samples_chart
        from landscope_app.plots.saturation_chart import saturation_chart
        from landscope_app.plots.saturation_map import saturation_map
        from landscope_app.plots.spectrum_chart import spectrum_chart
        from landscope_app.state.selection import share_of

        session, last, chosen = self._session, self._last(run), self._chosen(run)
        layer, threshold = str(chosen.get("layer", "")), share_of(str(chosen.get("threshold", "")))
        ending = f"{_plain(run)}-against-{_plain(other)}" if other else _plain(run)
        bars = saturation_chart(session, run, last, threshold=threshold, other=other)
        if bars.bars:
            yield f"saturation-{ending}", bars
            yield f"saturation-map-{ending}", saturation_map(session, run, threshold=threshold, other=other)
        if not layer:
            return
        spectrum = spectrum_chart(session, run, last, layer, threshold=threshold, other=other)
        if spectrum.series:
            yield f"spectrum-{ending}", spectrum
        samples = samples_chart(session, run, last, layer)
        if not samples.empty and not other:
            yield f"samples-{ending}", samples

    def _against(self, run: str) -> str:
        """The run to compare with: as asked for, else the session's own; empty = none."""
        other = self._options.against or str(self._chosen(run).get("against", ""))
        return other if other in self._session.runs and other != run else ""

    def _last(self, run: str) -> str:
        """The checkpoint marked in pictures of a run: the session's own, else the last one."""
        chosen = self._chosen(run).get("checkpoint")
        names = self._session.runs[run].names if run in self._session.runs else ()
        return str(chosen) if chosen in names else (names[-1] if names else "")

    def _chosen(self, run: str) -> dict[str, object]:
        """What the session's view has selected; nothing where that is another run."""
        chosen = self._session.view.get("selection")
        return chosen if isinstance(chosen, dict) and chosen.get("run") == run else {}

    def _view(self) -> dict[str, object]:
        found = self._session.view.get("landscape")
        return found if isinstance(found, dict) else {}


def _check_run(name: str, session: Session) -> None:
    if name and name not in session.runs:
        known = ", ".join(session.runs) or "none"
        raise LandscopeError(f"--against names no run of this session: “{name}”; its runs: {known}.")


def _display(view: dict[str, object]) -> Display:
    from landscope_app.plots.landscape_chart import Display

    return Display(scale=str(view.get("scale", "auto")), colour_map=str(view.get("colour_map", "")))


def _camera(view: dict[str, object]) -> Camera:
    from landscope_app.state.camera import Camera

    kept = view.get("camera")
    try:
        return Camera.from_dict(kept) if isinstance(kept, dict) else Camera()
    except (ValueError, TypeError):
        return Camera()


def _load_fonts() -> None:
    """Let Qt know the bundled fonts, which it does only in a window's process."""
    from landscope_app.scene.offscreen import ensure_application
    from landscope_app.theme.fonts import load

    ensure_application()
    load()


def _plain(name: str) -> str:
    """A name that is safe in a file name everywhere."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "unnamed"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="landscope render", description="Draw the pictures of a session, without a screen."
    )
    parser.add_argument("session", type=Path, help="session file (.h5)")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DIR", help="folder for the pictures"
    )
    parser.add_argument(
        "--size",
        type=_size,
        default=SIZE,
        metavar="WxH",
        help="pixels, default 1280x860; two surfaces side by side have this each",
    )
    parser.add_argument(
        "--against",
        default="",
        metavar="RUN",
        help="draw the saturation of every other run also beside this one (default: as in the window)",
    )
    parser.add_argument("--theme", choices=("dark", "light", "print"), default="light")
    parser.add_argument(
        "--format",
        type=_formats,
        default=("png",),
        metavar="png,svg,pdf",
        help="formats of the flat pictures; the turning surface is always a PNG",
    )
    parser.add_argument("--transparent", action="store_true", help="no background")
    return parser


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)[x×](\d+)", text.strip().lower())
    if found is None:
        raise argparse.ArgumentTypeError(f"“{text}” is no size: write it like 1280x860")
    width, height = int(found[1]), int(found[2])
    if not (160 <= width <= MOST_PIXELS and 120 <= height <= MOST_PIXELS):
        raise argparse.ArgumentTypeError(
            f"a picture of {text} cannot be drawn: 160x120 to {MOST_PIXELS}x{MOST_PIXELS}"
        )
    return width, height


def _formats(text: str) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    unknown = [part for part in wanted if part not in ("png", "svg", "pdf")]
    if unknown or not wanted:
        raise argparse.ArgumentTypeError(f"“{text}” is no list of formats: use png, svg and pdf")
    return wanted


if __name__ == "__main__":
    sys.exit(main())
