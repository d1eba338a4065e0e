"""Landscope: see how a PyTorch network trained.

>>> import landscope
>>> plane = landscope.open_project("sample").plane(grid=9)    # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_FROM = {
    "Project": "landscope.api",
    "open_project": "landscope.api",
    "LandscopeError": "landscope.contract.errors",
    "Session": "landscope.session.model",
    "SaturationTracker": "landscope.saturation.tracker",
    "AbstractWriter": "landscope.saturation.writers.base",
    "Distance": "landscope.distance.training.quantities",
    "UpdateSize": "landscope.distance.training.quantities",
    "GradNorm": "landscope.distance.training.quantities",
    "linear_cka": "landscope.distance.functions.cka",
}
_MODULES = ("schedules",)
__all__ = [
    "AbstractWriter",
    "Distance",
    "GradNorm",
    "LandscopeError",
    "Project",
    "SaturationTracker",
    "Session",
    "UpdateSize",
    "__version__",
    "linear_cka",
    "open_project",
    "schedules",
]


def __getattr__(name: str) -> Any:
    """Import public names when first used (PEP 562): ``import landscope`` alone costs nothing."""
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"landscope.{name}")
    if name not in _FROM:
        raise AttributeError(f"module 'landscope' has no attribute {name!r}")
    return getattr(importlib.import_module(_FROM[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
