"""The application's icon, in all sizes that the resources hold."""

from __future__ import annotations

from PySide6.QtGui import QIcon

from landscope_app.theme.resources import find


def app_icon() -> QIcon:
    """The icon; an empty one where the resources do not hold it."""
    folder = find("icons")
    made = QIcon()
    if folder is not None:
        for file in sorted(folder.glob("landscope*.png")):
            made.addFile(str(file))
    return made
