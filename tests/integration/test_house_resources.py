"""Fonts and icons are there, can be loaded, and carry their licences."""

from __future__ import annotations

import re

import pytest

import landscope_resources

FONTS = sorted(landscope_resources.path("fonts").glob("*.[ot]tf"))
ICONS = sorted(landscope_resources.path("icons").glob("*.svg"))


def test_that_the_two_families_can_be_loaded(qapp):
    from PySide6.QtGui import QFontDatabase

    families = set()
    for file in FONTS:
        number = QFontDatabase.addApplicationFont(str(file))
        assert number >= 0, file.name
        families |= set(QFontDatabase.applicationFontFamilies(number))
    assert {"Inter", "JetBrains Mono"} <= families


@pytest.mark.parametrize("family", ["Inter", "JetBrainsMono"])
def test_that_each_family_has_its_licence_beside_it(family):
    text = landscope_resources.path(f"fonts/{family}-OFL.txt").read_text()
    assert "SIL OPEN FONT LICENSE Version 1.1" in text and "Copyright" in text


@pytest.mark.parametrize("file", ICONS, ids=lambda file: file.stem)
def test_that_icons_are_drawings_that_qt_understands(file, qapp):
    from PySide6.QtGui import QColor, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(file.read_bytes().replace(b"currentColor", b"#102030"))
    assert renderer.isValid()
    image = QImage(40, 40, QImage.Format.Format_ARGB32)
    image.fill(QColor(0, 0, 0, 0))
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    inked = sum(image.pixelColor(x, y).alpha() > 128 for x in range(40) for y in range(40))
    assert 40 < inked < 1600


def test_that_toolbar_icons_take_the_colour_of_the_text():
    for file in ICONS:
        if file.stem != "landscope":
            colours = set(re.findall(r'(?:stroke|fill)="([^"]+)"', file.read_text()))
            assert colours <= {"none", "currentColor"}, file.name


def test_that_a_missing_resource_is_told_by_name():
    with pytest.raises(FileNotFoundError, match=r"icons/nothing\.svg is missing"):
        landscope_resources.path("icons/nothing.svg")
