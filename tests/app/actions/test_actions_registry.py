from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMainWindow

from landscope_app.actions.catalogue import DOCUMENT, JOBS, PICTURE, PROJECT, all_actions
from landscope_app.actions.match import score
from landscope_app.actions.palette import CommandPalette
from landscope_app.actions.registry import ActionRegistry, ActionSpec
from landscope_app.actions.sheet import sheet_html
from landscope_app.theme.colors import LIGHT


class Handlers(dict):
    """Counts what was called, for any id."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def __missing__(self, name):
        return lambda *_args: self.called.append(name)


@pytest.fixture
def window(qapp):
    made = QMainWindow()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def registry(window):
    made = ActionRegistry(window)
    made.do = Handlers()
    made.add(*all_actions(made.do))
    return made


def test_that_every_action_is_in_its_menu_and_runs_what_it_says(registry, window):
    registry.build_menus()
    titles = [action.text() for action in window.menuBar().actions()]
    assert titles == ["&File", "&Analysis", "&View", "&Checkpoints", "&Help"]
    for spec in registry.specs:
        registry[spec.id].trigger()
    assert registry.do.called == [spec.id for spec in registry.specs]


def test_that_groups_of_actions_that_are_switched_together_exist(registry):
    for name in (*DOCUMENT, *PICTURE, *PROJECT, *JOBS):
        assert registry[name].objectName() == name


def test_that_no_shortcut_belongs_to_two_actions(registry):
    with pytest.raises(ValueError, match=r"Ctrl\+O already belongs to file.open_project"):
        registry.add(ActionSpec("x.y", "X", "File", print, keys=("Ctrl+O",)))


def test_that_ids_are_unique_and_menus_known(registry):
    with pytest.raises(ValueError, match="already an action"):
        registry.add(ActionSpec("file.quit", "X", "File", print))
    with pytest.raises(ValueError, match="no menu"):
        registry.add(ActionSpec("x.y", "X", "Tools", print))


def test_that_every_toolbar_button_has_an_accessible_name(registry):
    bar = registry.build_toolbar()
    buttons = [bar.widgetForAction(action) for action in bar.actions() if not action.isSeparator()]
    assert buttons
    assert all(button.accessibleName() for button in buttons)


def test_that_the_sheet_lists_every_shortcut(registry):
    text = sheet_html(registry, LIGHT)
    for spec in registry.specs:
        for keys in spec.keys:
            assert keys in text


def test_that_the_palette_finds_by_letters_and_runs_the_best(registry, window):
    palette = CommandPalette(registry, window)
    palette._query.setText("sav ses")
    assert "Save session" in palette._list.item(0).text()
    palette._run()
    assert registry.do.called == ["file.save"]
    palette.deleteLater()


def test_that_the_palette_hides_what_cannot_be_done(registry, window):
    registry.enable(False, "file.save", "file.save_as")
    palette = CommandPalette(registry, window)
    palette._query.setText("save session")
    assert all("Save session" not in palette._list.item(k).text() for k in range(palette._list.count()))
    palette.deleteLater()


def test_that_matching_prefers_beginnings_of_words_and_refuses_missing_letters():
    assert score("os", "Open session") > score("os", "Close")
    assert score("xyz", "Open session") == 0
    assert score("", "anything") > 0


def test_that_icons_are_drawn_in_the_theme(registry):
    assert registry["file.save"].icon().isNull()
    registry.apply_theme(LIGHT)
    image = registry["file.save"].icon().pixmap(32, 32).toImage()
    darkest = min(
        (
            image.pixelColor(x, y)
            for x in range(32)
            for y in range(32)
            if image.pixelColor(x, y).alpha() == 255
        ),
        key=lambda colour: colour.lightness(),
    )
    assert darkest.name() == LIGHT.text
