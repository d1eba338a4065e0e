"""An OpenGL context on Linux without any display: EGL, surfaceless or on a graphics device."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

EGL_PLATFORM_SURFACELESS, EGL_PLATFORM_DEVICE = 0x31DD, 0x313F
EGL_NONE, EGL_OPENGL_API, EGL_OPENGL_BIT = 0x3038, 0x30A2, 0x0008
EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE = 0x3033, 0x0001, 0x3040
EGL_MAJOR, EGL_MINOR, EGL_PROFILE, EGL_CORE = 0x3098, 0x30FB, 0x30FD, 0x1
MOST_DEVICES = 16


class EglContext:
    """A current OpenGL 3.3 core context without a surface; draw into framebuffer objects."""

    def __init__(self) -> None:
        """Make it and make it current.

        Raises:
            OSError: when there is no EGL here, or none of its displays gives such a context.
        """
        if not sys.platform.startswith("linux"):
            raise OSError("EGL without a display exists on Linux only.")
        self._egl = _library()
        self._display, self._context = self._open()
        self._egl.eglMakeCurrent(self._display, None, None, self._context)

    def make_current(self) -> None:
        """Make the context current in this thread."""
        self._egl.eglBindAPI(EGL_OPENGL_API)
        if not self._egl.eglMakeCurrent(self._display, None, None, self._context):
            raise OSError(f"EGL refuses the context (error 0x{self._egl.eglGetError():04x}).")

    def leave(self) -> None:
        """Make no context current in this thread."""
        self._egl.eglMakeCurrent(self._display, None, None, None)

    def release(self) -> None:
        """Destroy the context. The display stays: others in this process may use the same one."""
        self._egl.eglDestroyContext(self._display, self._context)

    def _open(self) -> tuple[int, int]:
        for display in _displays(self._egl):
            if not self._egl.eglInitialize(display, None, None):
                continue
            context = self._create(display)
            if context:
                return display, context
        raise OSError("EGL offers no OpenGL 3.3 context without a display.")

    def _create(self, display: int) -> int | None:
        self._egl.eglBindAPI(EGL_OPENGL_API)
        config, count = ctypes.c_void_p(), ctypes.c_int()
        wanted = _integers(EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE)
        found = self._egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
        if not found or not count.value:
            return None
        kind = _integers(EGL_MAJOR, 3, EGL_MINOR, 3, EGL_PROFILE, EGL_CORE, EGL_NONE)
        context = self._egl.eglCreateContext(display, config, None, kind)
        if context and self._egl.eglMakeCurrent(display, None, None, context):
            return int(context)
        return None


def _library() -> Any:
    """Load EGL with the argument types of the calls made here."""
    egl = ctypes.CDLL("libEGL.so.1")
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    signatures = {
        "eglGetProcAddress": (pointer, [ctypes.c_char_p]),
        "eglInitialize": (integer, [pointer, pointer, pointer]),
        "eglBindAPI": (integer, [ctypes.c_uint]),
        "eglChooseConfig": (integer, [pointer, pointer, pointer, integer, pointer]),
        "eglCreateContext": (pointer, [pointer, pointer, pointer, pointer]),
        "eglMakeCurrent": (integer, [pointer, pointer, pointer, pointer]),
        "eglDestroyContext": (integer, [pointer, pointer]),
        "eglGetError": (integer, []),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(egl, name)
        function.restype, function.argtypes = result, arguments
    return egl


def _displays(egl: Any) -> list[int]:
    """Return the surfaceless display and those of the graphics devices, in the order to try."""
    address = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    if not address:
        raise OSError("This EGL cannot open a display without a screen.")
    kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)
    open_display = kind(address)
    found = [open_display(EGL_PLATFORM_SURFACELESS, None, None)]
    found += [open_display(EGL_PLATFORM_DEVICE, device, None) for device in _devices(egl)]
    return [int(display) for display in found if display]


def _devices(egl: Any) -> list[int]:
    address = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
    if not address:
        return []
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    devices, count = (ctypes.c_void_p * MOST_DEVICES)(), ctypes.c_int()
    if not kind(address)(MOST_DEVICES, devices, ctypes.byref(count)):
        return []
    return [int(device) for device in devices[: count.value] if device]


def _integers(*values: int) -> Any:
    return (ctypes.c_int * len(values))(*values)
