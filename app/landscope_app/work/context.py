"""Everything that the parts of one window share."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from landscope_app.hosts.background import Background
from landscope_app.hosts.engines import Engines
from landscope_app.settings import store
from landscope_app.state.cost import CostModel
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection


class Context(QObject):
    """Document, selection, engines and settings of one window.

    Signals:
        told(str, str, str): level, sentence, detail: for the quiet panel. The log has it too.
    """

    told = Signal(object, object, object)

    def __init__(
        self,
        parent: QObject | None = None,
        engines: Engines | None = None,
        settings: store.Settings | None = None,
    ) -> None:
        super().__init__(parent)
        self.document = Document(journal=True)
        self.selection = Selection()
        self.engines = engines or Engines(self)
        self.background = Background(self)
        self.settings = settings or store.load()
        self.cost = CostModel()
        self.devices: tuple[str, ...] = ("cpu",)
        self.background.failed.connect(lambda sentence, detail: self.tell("error", sentence, detail))
        self.engines.trouble.connect(lambda sentence, detail: self.tell("warning", sentence, detail))

    def tell(self, level: str, sentence: str, detail: str = "") -> None:
        """Say something a person should read: in the quiet panel and in the log."""
        self.document.write(level, sentence, detail)
        self.told.emit(level, sentence, detail)

    def save_settings(self) -> None:
        """Write the settings; said once where that is impossible."""
        if not store.save(self.settings):
            self.document.write("warning", f"The settings could not be written to {store.file()}.")

    def close(self, *, discard: bool = False) -> None:
        """End engines and background work; ``discard`` what is not saved, else it can be recovered."""
        self.engines.close()
        self.background.wait()
        self.document.close(discard=discard)
