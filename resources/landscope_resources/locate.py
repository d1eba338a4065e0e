"""Where the resources lie, whether installed, editable or packaged."""

from importlib.resources import files
from pathlib import Path


def path(name: str) -> Path:
    """Return where a resource lies, e.g. ``path("icons/play.svg")``.

    Raises:
        FileNotFoundError: The resource is absent.
    """
    found = Path(str(files("landscope_resources").joinpath(name)))
    if not found.exists():
        raise FileNotFoundError(f"Landscope's {name} is missing at {found}: install Landscope again.")
    return found


def sample_project() -> Path:
    """Return the folder of the sample project. It is package data: read it, never write sessions into it."""
    return path("sample")
