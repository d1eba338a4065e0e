"""Settings of the window, without Qt: one small JSON file in the person's configuration folder."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import msgspec
import platformdirs

_RECENT = 12


class Recent(msgspec.Struct, frozen=True):
    """A project or session that was opened: absolute path, what it is, when (seconds since the epoch)."""

    path: str
    kind: str
    opened: float = 0.0


class Settings(msgspec.Struct, kw_only=True):
    """What the window remembers.

    Attributes:
        theme: dark, light or system. device: as ``EngineOptions.device``.
        geometry, panels: Qt's own byte strings in hexadecimal. recent: newest first.
        export_folder: where the last picture went.
    """

    theme: str = "system"
    device: str = "auto"
    geometry: str = ""
    panels: str = ""
    export_folder: str = ""
    recent: list[Recent] = []

    def remember(self, path: str, kind: str, now: float) -> None:
        """Put a project or session at the top of the recent ones."""
        others = [item for item in self.recent if item.path != path]
        self.recent = [Recent(path, kind, now), *others][:_RECENT]

    def forget(self, path: str) -> None:
        """Take a project or session out of the recent ones."""
        self.recent = [item for item in self.recent if item.path != path]


def file() -> Path:
    """Where the settings lie; ``LANDSCOPE_CONFIG_DIR`` overrides the folder."""
    folder = os.environ.get("LANDSCOPE_CONFIG_DIR") or platformdirs.user_config_dir("landscope")
    return Path(folder) / "window.json"


def load() -> Settings:
    """The settings; those of a first start where the file is missing or cannot be understood."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(file().read_bytes(), type=Settings)
    return Settings()


def save(settings: Settings) -> bool:
    """Write the settings; False where the folder cannot be written (the window goes on without)."""
    target = file()
    text = json.dumps(msgspec.to_builtins(settings), indent=1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(target)
    except OSError:
        return False
    return True
