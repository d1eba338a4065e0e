from __future__ import annotations

import pytest

from landscope_app.theme.colors import DARK, LIGHT, contrast
from landscope_app.theme.palette import mix, palette, style_sheet

GROUNDS = ("background", "panel", "raised")


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda t: t.name)
@pytest.mark.parametrize("ink", ["text", "muted", "accent", "warning", "error", "good"])
def test_that_every_text_colour_can_be_read_on_every_ground(theme, ink):
    for ground in GROUNDS:
        assert contrast(getattr(theme, ink), getattr(theme, ground)) >= 4.5, ground


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda t: t.name)
def test_that_text_on_the_accent_can_be_read(theme):
    assert contrast(theme.accent_text, theme.accent) >= 4.5


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda t: t.name)
def test_that_curves_and_path_stand_out(theme):
    for colour in (*theme.series, theme.path, theme.marker):
        assert contrast(colour, theme.panel) >= 3


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda t: t.name)
def test_that_no_text_is_smaller_than_eleven_pixels(theme, qapp):
    sizes = [int(part.split("px")[0]) for part in style_sheet(theme).split("font-size: ")[1:]]
    assert min([*sizes, theme.size, theme.small]) >= 11


def test_that_contrast_follows_its_definition():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)


def test_that_the_palette_carries_the_theme(qapp):
    from PySide6.QtGui import QPalette

    for theme in (DARK, LIGHT):
        made = palette(theme)
        assert made.color(QPalette.ColorRole.Window).name() == theme.background
        assert made.color(QPalette.ColorRole.Highlight).name() == theme.accent
    assert mix("#000000", "#ffffff", 0.5).name() == "#808080"


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda t: t.name)
def test_that_numbers_stand_as_far_from_the_edge_as_other_texts(theme, qapp):
    from PySide6.QtWidgets import QDoubleSpinBox

    box = QDoubleSpinBox()
    box.setStyleSheet(style_sheet(theme))
    box.resize(90, 32)
    box.ensurePolished()
    box.grab()
    inner = box.lineEdit().geometry()
    box.deleteLater()
    assert inner.left() >= 7
    assert box.width() - inner.right() >= 7
