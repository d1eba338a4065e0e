"""The application's icon, in all sizes that the resources hold."""

from __future__ import annotations

from PySide6.QtGui import QIcon


def app_icon() -> QIcon:
    """The icon; an empty one where the resources do not hold it."""
    import landscope_resources

    locate = getattr(landscope_resources, "path", None)
    folder = locate("icons") if locate is not None else None
    made = QIcon()
    if folder is not None and folder.is_dir():
        for file in sorted(folder.glob("landscope*.png")):
            made.addFile(str(file))
    return made
