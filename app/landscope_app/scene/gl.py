"""The one door to PyOpenGL: imported on first use, for the kind of context that is current then.

PyOpenGL chooses its platform (GLX, EGL …) once, when it is imported; imported before a context exists it may
choose wrongly. Every drawing module therefore says `gl.glClear(…)` with this module, and the import happens
inside the first call, when a context is current.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CURRENT = (("glx", "libGL.so.1", "glXGetCurrentContext"), ("egl", "libEGL.so.1", "eglGetCurrentContext"))


def current_platform() -> str | None:
    """Return "glx" or "egl" for the context current in this thread; None without one, or not on Linux."""
    if not sys.platform.startswith("linux"):
        return None
    for name, library, function in _CURRENT:
        try:
            loaded = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        except OSError:
            continue  # a library that is not loaded holds no context
        query = getattr(loaded, function)
        query.restype = ctypes.c_void_p
        if query():
            return name
    return None


def __getattr__(name: str) -> Any:
    """Hand out a name of OpenGL.GL and keep it, so that later uses are plain look-ups."""
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(_library(), name)
    globals()[name] = value
    return value


def _library() -> Any:
    if "OpenGL" not in sys.modules:
        platform = current_platform()
        if platform is not None:
            os.environ["PYOPENGL_PLATFORM"] = platform
        import OpenGL

        # Checking every call doubles its cost; `check` asks once per set-up and per exported picture.
        OpenGL.ERROR_CHECKING = False
    from OpenGL import GL

    return GL


def vertex_attribute(location: int, size: int, stride: int = 0, offset: int = 0, divisor: int = 0) -> None:
    """Feed a float attribute of the bound vertex array from the bound buffer; strides and offsets in bytes.

    PyOpenGL's own wrapper keeps a record per context and asks the platform it was imported for which one is
    current; a picture drawn through EGL beside a window drawn through GLX would fail there.
    """
    _library()
    from OpenGL.raw.GL.VERSION.GL_2_0 import glVertexAttribPointer
    from OpenGL.raw.GL.VERSION.GL_3_3 import glVertexAttribDivisor

    _library().glEnableVertexAttribArray(location)
    glVertexAttribPointer(location, size, _library().GL_FLOAT, False, stride, ctypes.c_void_p(offset))
    glVertexAttribDivisor(location, divisor)


def read_pixels(into: npt.NDArray[np.uint8]) -> None:
    """Read the bound framebuffer into (height, width, 4) bytes: blue, green, red, alpha; lowest row first.

    PyOpenGL's own wrapper allocates the whole picture anew at every call and hands it through its converters.
    """
    library = _library()
    from OpenGL.raw.GL.VERSION.GL_1_0 import glReadPixels

    library.glPixelStorei(library.GL_PACK_ALIGNMENT, 4)
    library.glPixelStorei(library.GL_PACK_ROW_LENGTH, 0)
    height, width, _ = into.shape
    words = library.GL_UNSIGNED_INT_8_8_8_8_REV  # blue first in memory, on a little-endian machine
    glReadPixels(0, 0, width, height, library.GL_BGRA, words, ctypes.c_void_p(into.ctypes.data))


def check(doing: str) -> None:
    """Raise when OpenGL has recorded an error since the last call.

    Raises:
        RuntimeError: with what was being done and OpenGL's error number.
    """
    library = _library()
    code = library.glGetError()
    if code:
        raise RuntimeError(f"OpenGL reported error 0x{int(code):04x} while {doing}.")
