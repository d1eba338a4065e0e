"""Starting the window: ``landscope``, ``landscope sample``, ``landscope PATH``."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import landscope
from landscope_app.hosts.spawn import host_command, spawn
from landscope_app.state.endings import SESSION_ENDINGS

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from landscope_app.window import MainWindow


def main(argv: list[str] | None = None) -> int:
    """Run the window until it is closed; its exit code."""
    app, _, close = bring_up(arguments().parse_args(argv))
    code = app.exec()
    close()
    return code


def bring_up(options: argparse.Namespace) -> tuple[QApplication, MainWindow, Callable[[], None]]:
    """The program as a person sees it start: application, visible window, and what ends it all."""
    ready = engine_for(options.path)
    app = make_application()
    window = _first_sight(app, options)
    from landscope_app.faults import Faults
    from landscope_app.hosts.engines import Engines
    from landscope_app.work.context import Context

    context = Context(engines=Engines(ready=ready), settings=window.settings)
    faults = Faults()
    faults.told.connect(context.tell)
    faults.install()
    window.furnish(context)
    _after_shown(app, window, options)

    def close() -> None:
        faults.remove()
        context.close()

    return app, window, close


def engine_for(path: str | None) -> subprocess.Popen[bytes] | None:
    """An engine host that imports torch while the window comes up; None where none will be needed."""
    if not path or path.lower().endswith(SESSION_ENDINGS):
        return None
    try:
        return spawn(host_command("engine"))
    except OSError:
        return None  # said when it is really needed


def _first_sight(app: QApplication, options: argparse.Namespace) -> MainWindow:
    """The window with its start page, painted, before anything else is imported."""
    from landscope_app.settings import store
    from landscope_app.theme.colors import THEMES
    from landscope_app.theme.palette import system_theme, use
    from landscope_app.window import MainWindow

    settings = store.load()
    choice = options.theme or settings.theme
    use(THEMES.get(choice) or system_theme(), choice)
    window = MainWindow(None, THEMES.get(choice) or system_theme(), settings)
    if options.path:
        window.show_busy(options.path)
    if options.size:
        window.resize(*options.size)
    window.show()
    app.processEvents()
    if options.time_to_window:
        _report_start(window)
    return window


def make_application() -> QApplication:
    """The one QApplication. Contexts share their objects: a floated OpenGL dock crashes otherwise."""
    from PySide6.QtCore import QCoreApplication, Qt
    from PySide6.QtWidgets import QApplication

    found = QApplication.instance()
    if isinstance(found, QApplication):
        return found
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    QCoreApplication.setApplicationName("Landscope")
    QCoreApplication.setApplicationVersion(landscope.__version__)
    QApplication.setStyle("Fusion")
    app = QApplication(sys.argv[:1])
    app.setDesktopFileName("landscope")
    return app


def _after_shown(app: QApplication, window: MainWindow, options: argparse.Namespace) -> None:
    """What may wait until the window is visible: opening, signals, the developer's screenshot."""
    from PySide6.QtCore import QTimer

    from landscope_app.theme.app_icon import app_icon

    if options.path:
        QTimer.singleShot(0, lambda: window.open_path(_absolute(options.path)))
    QTimer.singleShot(0, lambda: window.setWindowIcon(app_icon()))
    signal.signal(signal.SIGINT, lambda *_: window.close_now())
    awake = QTimer(window)  # lets Python see the signal while Qt waits
    awake.start(500)
    awake.timeout.connect(lambda: None)
    if options.grab:
        QTimer.singleShot(round(options.after * 1000), lambda: _grab(app, window, options.grab))


def arguments() -> argparse.ArgumentParser:
    """The words the window understands."""
    parser = argparse.ArgumentParser(prog="landscope", description="See how a PyTorch network trained.")
    parser.add_argument("path", nargs="?", help="project folder, model script, session file, or “sample”")
    parser.add_argument("--version", action="version", version=f"Landscope {landscope.__version__}")
    parser.add_argument("--theme", choices=("dark", "light", "system"), help=argparse.SUPPRESS)
    parser.add_argument("--size", type=_size, help=argparse.SUPPRESS)
    parser.add_argument("--grab", metavar="PNG", help=argparse.SUPPRESS)
    parser.add_argument("--after", type=float, default=10.0, metavar="SECONDS", help=argparse.SUPPRESS)
    parser.add_argument("--time-to-window", action="store_true", help=argparse.SUPPRESS)
    return parser


def _size(text: str) -> tuple[int, int]:
    width, height = text.lower().split("x")
    return int(width), int(height)


def _absolute(path: str) -> str:
    return path if path == "sample" else os.path.abspath(path)  # noqa: PTH100  never resolves links


def _grab(app: QApplication, window: MainWindow, target: str) -> None:
    """A screenshot from the screen, OpenGL and painter overlays included, then the end."""
    screen = window.screen()
    place = window.frameGeometry()
    picture = screen.grabWindow(0, place.x(), place.y(), place.width(), place.height())
    sys.stdout.write(f"{target} {'written' if picture.save(target) else 'could not be written'}\n")
    window.close_now()
    app.quit()


def _report_start(window: MainWindow) -> None:
    """Seconds from the start of the process to the first painted window, on one line."""
    import time

    window.repaint()
    with open("/proc/self/stat", encoding="ascii") as stat:  # noqa: PTH123
        ticks = int(stat.read().rsplit(") ", 1)[1].split()[19])
    with open("/proc/uptime", encoding="ascii") as uptime:  # noqa: PTH123
        now = float(uptime.read().split()[0])
    began = ticks / os.sysconf("SC_CLK_TCK")
    sys.stdout.write(f"window after {now - began:.3f} s ({time.process_time():.3f} s of processor time)\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
