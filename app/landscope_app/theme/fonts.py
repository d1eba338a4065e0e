"""The fonts that come with Landscope, loaded once; families that are missing fall back to the system's."""

from __future__ import annotations

import functools

from PySide6.QtGui import QFontDatabase

from landscope_app.theme.resources import find


@functools.cache
def load() -> tuple[str, ...]:
    """Load the bundled fonts; the families that are now there. Needs a QGuiApplication."""
    folder = find("fonts")
    if folder is None:
        return ()
    families: list[str] = []
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() in (".ttf", ".otf"):
            number = QFontDatabase.addApplicationFont(str(file))
            families += QFontDatabase.applicationFontFamilies(number) if number >= 0 else []
    return tuple(dict.fromkeys(families))


def family(wanted: str) -> str:
    """``wanted`` where it is installed or bundled, else the system's general or fixed-width family."""
    if wanted in load() or wanted in QFontDatabase.families():
        return wanted
    fixed = "mono" in wanted.lower()
    kind = QFontDatabase.SystemFont.FixedFont if fixed else QFontDatabase.SystemFont.GeneralFont
    return QFontDatabase.systemFont(kind).family()
