"""Can this machine draw with OpenGL here? Asked through Qt alone, before PyOpenGL is imported."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication, QOffscreenSurface, QOpenGLContext, QSurfaceFormat

from landscope_app.scene import gl

NEEDED = (3, 3)
# These platforms have no OpenGL of their own; asking the first one with a display set crashes at exit.
PLATFORMS_WITHOUT_GL = ("offscreen", "minimal", "linuxfb", "vnc")
SOFTWARE = ("llvmpipe", "softpipe", "swrast", "swiftshader", "software", "gdi generic", "basic render")
_GL_RENDERER, _GL_VENDOR, _GL_VERSION = 0x1F01, 0x1F00, 0x1F02


@dataclass(frozen=True)
class GlInfo:
    """What draws here.

    Attributes:
        vendor, renderer, version: the driver's own words.
        number: OpenGL version as (major, minor).
        software: drawn by the processor.
        platform: "glx", "egl", or None outside Linux.
    """

    vendor: str
    renderer: str
    version: str
    number: tuple[int, int]
    software: bool
    platform: str | None

    @property
    def samples(self) -> int:
        """Return the multisamples worth asking for: they cost a software driver 2.5 times the frame."""
        return 0 if self.software else 4


def surface_format(samples: int = 0) -> QSurfaceFormat:
    """Return the format of every context of the scene: 3.3 core (macOS gives 2.1 otherwise), 24-bit depth."""
    wanted = QSurfaceFormat()
    wanted.setRenderableType(QSurfaceFormat.RenderableType.OpenGL)
    wanted.setVersion(*NEEDED)
    wanted.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    wanted.setDepthBufferSize(24)
    wanted.setStencilBufferSize(8)
    wanted.setSamples(samples)
    return wanted


def probe_gl() -> GlInfo | None:
    """Return what draws here, or None where no usable OpenGL (3.3 or later) can be had.

    Needs a QGuiApplication; without one the answer is None. What was current before is current again.
    """
    if QGuiApplication.instance() is None or QGuiApplication.platformName() in PLATFORMS_WITHOUT_GL:
        return None
    previous = QOpenGLContext.currentContext()
    previous_surface = previous.surface() if previous else None
    made = offscreen_context()
    if made is None:
        return None
    context, surface = made
    info = _describe(context)
    context.doneCurrent()
    surface.destroy()
    if previous is not None and previous_surface is not None:
        previous.makeCurrent(previous_surface)
    return info if info.number >= NEEDED else None


def offscreen_context() -> tuple[QOpenGLContext, QOffscreenSurface] | None:
    """Return a new current context with a hidden surface, or None; the caller keeps both."""
    context = QOpenGLContext()
    context.setFormat(surface_format())
    if not context.create() or not context.isValid():
        return None
    surface = QOffscreenSurface()
    surface.setFormat(context.format())
    surface.create()
    if not surface.isValid() or not context.makeCurrent(surface):
        surface.destroy()
        return None
    if context.isOpenGLES():
        context.doneCurrent()
        surface.destroy()
        return None
    return context, surface


def _describe(context: QOpenGLContext) -> GlInfo:
    functions = context.functions()
    vendor, renderer, version = (
        str(functions.glGetString(name) or "") for name in (_GL_VENDOR, _GL_RENDERER, _GL_VERSION)
    )
    actual = context.format()
    software = any(word in f"{vendor} {renderer}".lower() for word in SOFTWARE)
    platform = gl.current_platform() if sys.platform.startswith("linux") else None
    number = (actual.majorVersion(), actual.minorVersion())
    return GlInfo(vendor, renderer, version, number, software, platform)
