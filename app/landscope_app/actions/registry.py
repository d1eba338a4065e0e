"""One registry of actions: menus, toolbar, command palette and shortcut sheet are all made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QToolBar

from landscope_app.theme.colors import Theme

MENUS = ("File", "Analysis", "View", "Checkpoints", "Help")


@dataclass(frozen=True)
class ActionSpec:
    """One thing a person can do.

    Attributes:
        id: unique, such as ``file.open_project``. text: as in the menu, without mnemonic.
        menu: one of MENUS; ``section`` groups within it (a separator between two sections).
        run: called when triggered; gets the checked state where ``checkable``.
        keys: shortcuts, the first is shown. icon: name in the resources.
        tip: a longer sentence for palette and status bar. toolbar: also a button in the toolbar.
        group: exclusive group of checkable actions. submenu: name of a submenu.
    """

    id: str
    text: str
    menu: str
    run: Callable[..., object]
    section: int = 0
    keys: tuple[str, ...] = ()
    icon: str = ""
    tip: str = ""
    toolbar: bool = False
    checkable: bool = False
    group: str = ""
    submenu: str = ""


class ActionRegistry:
    """Makes a QAction of every spec and puts it wherever it belongs."""

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self._specs: dict[str, ActionSpec] = {}
        self._actions: dict[str, QAction] = {}
        self._groups: dict[str, QActionGroup] = {}

    def __getitem__(self, name: str) -> QAction:
        """The action called ``name``; KeyError where there is none."""
        return self._actions[name]

    @property
    def specs(self) -> tuple[ActionSpec, ...]:
        """All specs, in the order they were added."""
        return tuple(self._specs.values())

    def add(self, *specs: ActionSpec) -> None:
        """Register actions.

        Raises:
            ValueError: an id or a shortcut is taken, or the menu is unknown.
        """
        for spec in specs:
            self._check(spec)
            self._specs[spec.id] = spec
            self._actions[spec.id] = self._make(spec)

    def enable(self, enabled: bool, *names: str) -> None:
        """Make actions usable or not."""
        for name in names:
            self._actions[name].setEnabled(enabled)

    def rename(self, name: str, text: str) -> None:
        """Give an action another text, everywhere it stands."""
        if text == self._specs[name].text:
            return
        spec = self._specs[name] = replace(self._specs[name], text=text)
        self._actions[name].setText(text.replace("&", "&&"))
        self._actions[name].setToolTip(_tooltip(spec))

    def build_menus(self) -> None:
        """Fill the menus of the window's menu bar; those that are not there yet are made."""
        bar = self._window.menuBar()
        there = {menu.title().replace("&", ""): menu for menu in bar.findChildren(QMenu)}
        for title in MENUS:
            menu = there.get(title) or bar.addMenu(f"&{title}")
            menu.setAccessibleName(f"{title} menu")
            self._fill(menu, [s for s in self._specs.values() if s.menu == title])

    def build_toolbar(self) -> QToolBar:
        """A toolbar of the actions that asked for it."""
        bar = QToolBar("Toolbar", self._window)
        bar.setObjectName("toolbar")
        bar.setMovable(False)
        section: tuple[str, int] | None = None
        for spec in (s for s in self._specs.values() if s.toolbar):
            if section is not None and section != (spec.menu, spec.section):
                bar.addSeparator()
            section = (spec.menu, spec.section)
            bar.addAction(self._actions[spec.id])
            button = bar.widgetForAction(self._actions[spec.id])
            button.setAccessibleName(spec.text)
        return bar

    def apply_theme(self, theme: Theme) -> None:
        """Draw the icons."""
        from landscope_app.theme.icons import icon

        for name, spec in self._specs.items():
            if spec.icon:
                self._actions[name].setIcon(icon(spec.icon, theme))

    def _check(self, spec: ActionSpec) -> None:
        if spec.id in self._specs:
            raise ValueError(f"there is already an action {spec.id}")
        if spec.menu not in MENUS:
            raise ValueError(f"there is no menu {spec.menu}")
        taken = {keys: other.id for other in self._specs.values() for keys in other.keys}
        for keys in spec.keys:
            if keys in taken:
                raise ValueError(f"{keys} already belongs to {taken[keys]}")

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.text, self._window)
        action.setObjectName(spec.id)
        action.setShortcuts([QKeySequence(keys) for keys in spec.keys])
        action.setToolTip(_tooltip(spec))
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.checkable)
        if spec.group:
            self._groups.setdefault(spec.group, QActionGroup(self._window)).addAction(action)
        action.triggered.connect(spec.run if spec.checkable else lambda _checked=False: spec.run())
        self._window.addAction(action)
        return action

    def _fill(self, menu: QMenu, specs: list[ActionSpec]) -> None:
        submenus: dict[str, QMenu] = {}
        last = specs[0].section if specs else 0
        for spec in specs:
            if spec.section != last:
                menu.addSeparator()
                last = spec.section
            if spec.submenu and spec.submenu not in submenus:
                submenus[spec.submenu] = menu.addMenu(spec.submenu)
            submenus.get(spec.submenu, menu).addAction(self._actions[spec.id])


def _tooltip(spec: ActionSpec) -> str:
    said = spec.tip or spec.text
    return f"{said} ({spec.keys[0]})" if spec.keys else said
