"""Everything a person can do in the window, as one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from landscope_app.actions.registry import ActionSpec

Handlers = Mapping[str, Callable[..., object]]

# Needs an open document; needs a project; needs the picture.
DOCUMENT = ("file.save", "file.save_as", "file.export_data", "file.export_picture", "view.copy_picture")
PICTURE = (
    "view.surface",
    "view.contour",
    "view.line",
    "view.losses",
    "view.options",
    "view.undo",
    "view.redo",
    "view.reset_camera",
    "view.front",
    "view.side",
    "view.top",
    "view.diagonal",
    "view.orthographic",
    "view.reset_panels",
    "checkpoints.play",
    "checkpoints.next",
    "checkpoints.previous",
    "checkpoints.first",
    "checkpoints.last",
)
PROJECT = (
    "analysis.run",
    "analysis.measure",
    "analysis.gradients",
    "analysis.refine",
    "analysis.again",
    "analysis.setup",
    "analysis.trust",
    "analysis.revoke",
)
JOBS = ("analysis.pause", "analysis.cancel", "analysis.stop", "analysis.cancel_all")


def all_actions(do: Handlers) -> list[ActionSpec]:
    """The specs, each with what it does from ``do`` (by id)."""
    return [*_file(do), *_analysis(do), *_view(do), *_checkpoints(do), *_help(do)]


def _spec(do: Handlers, name: str, text: str, *keys: str, **more: object) -> ActionSpec:
    menu = {
        "file": "File",
        "analysis": "Analysis",
        "view": "View",
        "checkpoints": "Checkpoints",
        "help": "Help",
    }
    return ActionSpec(name, text, menu[name.split(".")[0]], do[name], keys=keys, **more)  # type: ignore[arg-type]


def _file(do: Handlers) -> list[ActionSpec]:
    tip = "A folder with a model script and checkpoints, or a folder of checkpoints alone"
    saved = "Everything that was measured, in one file"
    return [
        _spec(do, "file.open_project", "Open project…", "Ctrl+O", icon="open", tip=tip, toolbar=True),
        _spec(
            do, "file.open_script", "Open model script…", tip="A Python file with build_model and build_data"
        ),
        _spec(
            do, "file.open_session", "Open session…", "Ctrl+Shift+O", tip="Results that were saved earlier"
        ),
        _spec(
            do, "file.sample", "Open the sample project", tip="Digits and three small networks, ready to run"
        ),
        _spec(do, "file.start", "Start page", tip="Recent projects and sessions"),
        _spec(do, "file.save", "Save session", "Ctrl+S", section=1, icon="save", tip=saved, toolbar=True),
        _spec(do, "file.save_as", "Save session as…", "Ctrl+Shift+S", section=1),
        _spec(do, "file.export_picture", "Export picture…", "Ctrl+E", section=2, icon="camera", toolbar=True),
        _spec(
            do,
            "file.export_data",
            "Export data…",
            "Ctrl+Shift+E",
            section=2,
            tip="All results as CSV and NPZ",
        ),
        _spec(do, "file.quit", "Quit", "Ctrl+Q", section=3),
    ]


def _analysis(do: Handlers) -> list[ActionSpec]:
    return [
        _spec(
            do,
            "analysis.run",
            "Run with these options",
            "F5",
            icon="refresh",
            tip="As the bar of choices says",
        ),
        _spec(do, "analysis.measure", "Measure saturation…", "Ctrl+M", tip="Choose how, and measure it anew"),
        _spec(
            do,
            "analysis.gradients",
            "Measure gradient norms",
            tip="Norm of the gradient of the loss at every checkpoint of the run, among the distances",
        ),
        _spec(do, "analysis.refine", "Refine the plane", "Ctrl+R", tip="Measure the rest of its grid"),
        _spec(
            do, "analysis.again", "Analyse everything again", tip="The first jobs of the project once more"
        ),
        _spec(do, "analysis.pause", "Pause or resume", "Ctrl+P", section=1, icon="pause", toolbar=True),
        _spec(do, "analysis.cancel", "Cancel", "Ctrl+.", section=1, icon="cancel", toolbar=True),
        _spec(do, "analysis.cancel_all", "Cancel all jobs", section=1),
        _spec(do, "analysis.stop", "Stop now", section=1, tip="End the engine process; results so far stay"),
        _spec(
            do,
            "analysis.setup",
            "Set up the model script…",
            section=2,
            tip="Choose the script, the model and the data",
        ),
        _spec(do, "analysis.trust", "Trust this folder…", section=2),
        _spec(
            do,
            "analysis.revoke",
            "Revoke trust",
            section=2,
            tip="The script of this folder may not run any more",
        ),
    ]


def _view(do: Handlers) -> list[ActionSpec]:
    kinds = (("surface", "Ctrl+1"), ("contour", "Ctrl+2"), ("line", "Ctrl+3"), ("losses", "Ctrl+4"))
    cameras = (("front", "1"), ("side", "3"), ("top", "7"), ("diagonal", "9"))
    return [
        *(_spec(do, f"view.{kind}", kind.capitalize(), keys) for kind, keys in kinds),
        _spec(do, "view.options", "Options of the next run", "Ctrl+Shift+R"),
        _spec(do, "view.undo", "Undo view change", "Ctrl+Z", section=1),
        _spec(do, "view.redo", "Redo view change", "Ctrl+Shift+Z", section=1),
        _spec(do, "view.copy_picture", "Copy picture", "Ctrl+C", section=1, tip="To the clipboard"),
        _spec(do, "view.reset_camera", "Reset camera", "0", section=2, submenu="Camera"),
        *(
            _spec(do, f"view.{name}", name.capitalize(), keys, section=2, submenu="Camera")
            for name, keys in cameras
        ),
        _spec(do, "view.orthographic", "Perspective or parallel", "5", section=2, submenu="Camera"),
        *(
            _spec(do, f"view.theme_{name}", text, section=3, submenu="Theme", checkable=True, group="theme")
            for name, text in (("system", "As the system"), ("dark", "Dark"), ("light", "Light"))
        ),
        _spec(do, "view.reset_panels", "Reset the panels", section=3),
    ]


def _checkpoints(do: Handlers) -> list[ActionSpec]:
    return [
        _spec(do, "checkpoints.play", "Play or pause", "Space", tip="Step through training"),
        _spec(do, "checkpoints.next", "Next checkpoint", "Ctrl+Right"),
        _spec(do, "checkpoints.previous", "Previous checkpoint", "Ctrl+Left"),
        _spec(do, "checkpoints.first", "First checkpoint", "Ctrl+Home"),
        _spec(do, "checkpoints.last", "Last checkpoint", "Ctrl+End"),
    ]


def _help(do: Handlers) -> list[ActionSpec]:
    return [
        _spec(do, "help.palette", "Command palette…", "Ctrl+Shift+P", icon="search", toolbar=True),
        _spec(do, "help.shortcuts", "Keyboard shortcuts", "F1"),
        _spec(do, "help.about", "About Landscope", section=1),
    ]
