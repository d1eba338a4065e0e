"""Icons, fonts, themes, shaders and the sample project of Landscope."""

from landscope_resources.locate import path, sample_project

__all__ = ["path", "sample_project"]
