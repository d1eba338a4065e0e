"""The main window: start page or workspace in the middle, docks around it, and what connects them."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from landscope_app.actions.registry import MENUS
from landscope_app.settings import store
from landscope_app.theme.colors import THEMES, Theme
from landscope_app.theme.palette import system_theme, use
from landscope_app.theme.plain import plain_label
from landscope_app.views.notice import NoticePanel
from landscope_app.views.start import StartPage

if TYPE_CHECKING:
    from landscope_app.docks import Docks
    from landscope_app.views.panel_in_use import PanelInUse
    from landscope_app.work.context import Context
    from landscope_app.work.measuring import Measuring
    from landscope_app.workspace import Workspace


class MainWindow(QMainWindow):
    """One document in one window, made in three steps so that it is seen at once.

    1. The constructor makes the frame and the start page, from Qt alone.
    2. ``furnish``, once it was painted: document, engines, actions (NumPy and the contract are imported).
    3. The workspace with its plots and OpenGL, when something is opened (``workspace`` is None until then).
    """

    def __init__(self, context: Context | None, theme: Theme, settings: store.Settings | None = None) -> None:
        """``context``: where there is one already, the window is furnished with it at once."""
        super().__init__()
        self.theme = theme
        self.workspace: Workspace | None = None
        self.docks: Docks | None = None
        self.in_use: PanelInUse | None = None
        self.measuring: Measuring | None = None
        self._pending_view: dict[str, Any] | None = None
        self._closing = self._discarding = self._furnished = False
        self.settings = context.settings if context is not None else settings or store.load()
        self.notice = NoticePanel()
        self.start = StartPage(self.settings)
        self._busy = plain_label("Opening…")
        self._busy.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._frame()
        if context is not None:
            self.furnish(context)

    def furnish(self, context: Context) -> None:
        """Give the window its document, engines and actions."""
        from landscope_app.actions.catalogue import all_actions
        from landscope_app.actions.registry import ActionRegistry
        from landscope_app.window_actions import WindowActions
        from landscope_app.work.analyses import Analyses
        from landscope_app.work.files import SessionFiles
        from landscope_app.work.opening import Opener
        from landscope_app.work.view_history import ViewHistory

        self.context = context
        self.analyses = Analyses(context, self)
        self.opener = Opener(context, self)
        self.files = SessionFiles(context, self.analyses, self)
        self.history = ViewHistory(self.view_state, self.restore_view, self)
        self.actions_of = WindowActions(self)
        self.registry = ActionRegistry(self)
        self.registry.add(*all_actions(self.actions_of.handlers()))
        self.registry.apply_theme(self.theme)
        self.registry.build_menus()
        self.toolbar = self.registry.build_toolbar()
        self.addToolBar(self.toolbar)
        self.toolbar.hide()
        self._furnished = True
        self._connect()
        self._enable()
        self._entitle()
        self.start.furnish(context)

    def open_path(self, path: str) -> None:
        """Open a project, a script, a session or the word ``sample``."""
        from landscope_app.hosts.titles import STATISTICS
        from landscope_app.work.opening import SAMPLE, is_session

        self.show_busy(path)
        if path != SAMPLE and is_session(path):
            self.files.open(path)
        else:
            self.context.engines.warm_up(STATISTICS)
            self.opener.open(path)

    def open_dropped(self, paths: list[str]) -> None:
        """Open what was dropped: the first of several."""
        if paths:
            self.open_path(paths[0])

    def show_busy(self, path: str) -> None:
        """Say that something is being opened, while nothing else is there to look at."""
        if self.workspace is None or self._stack.currentWidget() is self.start:
            self._busy.setText(f"Opening {path}…" if path != "sample" else "Opening the sample project…")
            self._stack.setCurrentWidget(self._busy)

    def show_start(self) -> None:
        """Back to the start page; the document stays open behind it."""
        if self.docks is not None:
            self.docks.show(False)
        self.start.refresh()
        self._stack.setCurrentWidget(self.start)
        self.toolbar.hide()
        self._enable()
        self._entitle()

    def use_theme(self, choice: str) -> None:
        """dark, light or system, now and at the next start."""
        self.context.settings.theme = choice
        self.context.save_settings()
        self.theme = THEMES.get(choice) or system_theme()
        use(self.theme, choice)
        self.theme = THEMES.get(choice) or system_theme()
        self.registry.apply_theme(self.theme)
        for view in self._themed():
            view.apply_theme(self.theme)

    def view_state(self) -> dict[str, Any]:
        """What of the view undo and the session keep."""
        if self.workspace is None:
            return {}
        chosen = self.context.selection.chosen
        return {
            "selection": {name: getattr(chosen, name) for name in chosen.__dataclass_fields__},
            "segment": self.workspace.choices.kind,
            "landscape": self.workspace.landscape.view_state(),
        }

    def restore_view(self, view: dict[str, Any]) -> None:
        """Take back what ``view_state`` gave; what is missing or strange is left as it is."""
        if self.workspace is None or not view:
            return
        chosen = self.context.selection.chosen
        selection = view.get("selection", {})
        known = {k: str(v) for k, v in selection.items() if k in chosen.__dataclass_fields__}
        self.context.selection.set(**known)
        self.context.selection.settle(self.context.document.session)
        if isinstance(view.get("landscape"), dict):
            self.workspace.landscape.restore_view(view["landscape"])
        if isinstance(view.get("segment"), str):
            self.workspace.show_kind(view["segment"])

    def show_workspace(self) -> None:
        """Show docks and picture; imports them the first time, after the window itself was shown."""
        self._build()
        assert self.docks is not None and self.workspace is not None
        self._stack.setCurrentWidget(self.workspace)
        self.docks.show(True)
        self.toolbar.show()
        self._restore_panels(self.context.settings.panels)
        self._enable()
        self._entitle()

    # Qt's own events.

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files may be dropped anywhere on the window."""
        if self._furnished and event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        self.open_dropped([url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()])

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask once if something would be lost; then remember the panels and end the engines."""
        if not self._furnished:
            super().closeEvent(event)
            return
        running = len(self.context.engines.busy)
        if not self._closing and (running or self.context.document.dirty):
            event.ignore()
            self.actions_of.ask_to_close(running)
            return
        self._keep_panels()
        self.context.close(discard=self._discarding)
        super().closeEvent(event)

    def close_now(self, *, discard: bool = False) -> None:
        """Close without asking; what is not saved can be recovered at the next start unless ``discard``."""
        self._closing, self._discarding = True, discard
        self.close()

    # Putting it together.

    def _frame(self) -> None:
        self.setObjectName("landscope")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.setDockOptions(self.dockOptions() | QMainWindow.DockOption.GroupedDragging)
        self.resize(1440, 900)
        with contextlib.suppress(ValueError):
            self.restoreGeometry(QByteArray(bytes.fromhex(self.settings.geometry)))
        for page in (self.start, self._busy):
            self._stack.addWidget(page)
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(4, 0, 4, 4)
        layout.addWidget(self.notice)
        layout.addWidget(self._stack, 1)
        self.setCentralWidget(centre)
        self.statusBar().setSizeGripEnabled(False)
        for title in MENUS:
            self.menuBar().addMenu(f"&{title}").setAccessibleName(f"{title} menu")
        self.setWindowTitle("Landscope[*]")

    def _connect(self) -> None:
        context = self.context
        self.start.sample_wanted.connect(lambda: self.open_path("sample"))
        self.start.project_wanted.connect(self.actions_of.open_project)
        self.start.session_wanted.connect(self.actions_of.open_session)
        self.start.path_wanted.connect(self.open_path)
        self.start.dropped.connect(self.open_dropped)
        self.start.recovered.connect(self.files.show_recovered)
        context.told.connect(self._tell)
        context.document.listen_state(self._entitle)
        context.engines.jobs_changed.connect(self._enable_jobs)
        context.engines.hello.connect(self._greet)
        self.opener.opened.connect(self._project_opened)
        self.opener.trust_wanted.connect(self.actions_of.ask_trust)
        self.opener.script_wanted.connect(self.actions_of.offer_setup)
        self.analyses.script_failed.connect(self.actions_of.offer_help)
        self.files.opened.connect(self._session_opened)
        self.files.view_wanted.connect(lambda: context.document.keep_view(self._whole_view()))

    def _build(self) -> None:
        if self.workspace is not None:
            return
        from landscope_app.docks import Docks
        from landscope_app.views.checkpoints import CheckpointList
        from landscope_app.views.distance import DistanceView
        from landscope_app.views.jobs import JobsView
        from landscope_app.views.log import LogView
        from landscope_app.views.losses import LossView
        from landscope_app.views.saturation import SaturationView
        from landscope_app.work.measuring import Measuring
        from landscope_app.workspace import Workspace

        made = (self.context.document, self.context.selection, self.theme)
        self.workspace = Workspace(self.context, self.analyses, self.theme)
        self.workspace.view_changed.connect(self.history.touch)
        self._stack.addWidget(self.workspace)
        self.docks = Docks(self)
        views: dict[str, Any] = {
            "project": CheckpointList(*made),
            "saturation": SaturationView(*made),
            "distance": DistanceView(*made),
            "losses": LossView(*made),
            "jobs": JobsView(self.context.engines, self.analyses.again),
            "log": LogView(self.context.document, self.theme),
        }
        for name, view in views.items():
            self.docks.fill(name, view)
        self.measuring = Measuring(self.context, self.analyses, views["saturation"], self)
        self.actions_of.connect_checkpoints(views["project"])
        self._follow_use(self.workspace)
        self.workspace.show_kind("surface")
        gc.freeze()  # what is imported stays: a full collection over it would stop the window for 100 ms

    def _follow_use(self, workspace: Workspace) -> None:
        """Let exports and copies be of the panel that was used last, and their texts say so."""
        from landscope_app.views.panel_in_use import PanelInUse

        self.in_use = PanelInUse(workspace, lambda: workspace.shown, self)
        self.in_use.changed.connect(self.actions_of.name_picture)
        workspace.view_changed.connect(self.actions_of.name_picture)

    def _project_opened(self) -> None:
        self.analyses.forget()
        self.notice.hide()
        QTimer.singleShot(0, self._show_opened)

    def _session_opened(self, view: dict[str, Any]) -> None:
        self._pending_view = view
        self.notice.hide()
        QTimer.singleShot(0, self._show_opened)

    def _show_opened(self) -> None:
        self.show_workspace()
        assert self.workspace is not None
        self.workspace.show_document()
        view, self._pending_view = self._pending_view, None
        if self.measuring is not None:
            self.measuring.show_document(view or {})
        if view:
            self._restore_panels(str(view.get("panels", "")))
            self.restore_view(view)
        self.history.reset()

    def _themed(self) -> list[Any]:
        docks = [] if self.docks is None else [dock.widget() for dock in self.docks.all.values()]
        views = [*docks, self.workspace]
        return [view for view in views if hasattr(view, "apply_theme")]

    def _whole_view(self) -> dict[str, Any]:
        measure = {"measure": self.measuring.view_state()} if self.measuring is not None else {}
        return {**self.view_state(), **measure, "panels": self._panels()}

    def _panels(self) -> str:
        return bytes(self.saveState().data()).hex() if self.docks is not None else ""

    def _keep_panels(self) -> None:
        settings = self.context.settings
        settings.geometry = bytes(self.saveGeometry().data()).hex()
        if self.docks is not None and self._stack.currentWidget() is self.workspace:
            settings.panels = self._panels()
        self.context.save_settings()

    def _restore_panels(self, panels: str) -> None:
        restored = False
        with contextlib.suppress(ValueError):
            restored = bool(panels) and self.restoreState(QByteArray(bytes.fromhex(panels)))
        if not restored and self.docks is not None:
            self.docks.fit()

    def _tell(self, level: str, sentence: str, detail: str) -> None:
        self.notice.tell(level, sentence, detail)
        if self._stack.currentWidget() is self._busy:
            self.show_start()

    def _greet(self, hello: Any) -> None:
        torch = f" · torch {hello.torch}" if hello.torch else ""
        self.statusBar().showMessage(f"Engine: Python {hello.python}{torch} · {', '.join(hello.devices)}")

    def _entitle(self) -> None:
        document = self.context.document
        opened = self._stack.currentWidget() is not self.start
        self.setWindowTitle(f"{document.title}[*] · Landscope" if opened else "Landscope[*]")
        self.setWindowModified(document.dirty)

    def _enable(self) -> None:
        from landscope_app.actions.catalogue import DOCUMENT, PICTURE, PROJECT

        there = self.workspace is not None and self._stack.currentWidget() is self.workspace
        project = self.context.document.session.project
        self.registry.enable(there, *DOCUMENT, *PICTURE)
        self.registry.enable(there and project is not None, *PROJECT)
        self._enable_jobs()

    def _enable_jobs(self) -> None:
        from landscope_app.actions.catalogue import JOBS

        self.registry.enable(bool(self.context.engines.busy), *JOBS)
