import os
import subprocess
import sys

import pytest
from PySide6.QtGui import QOpenGLContext
from PySide6.QtWidgets import QApplication

from landscope_app.scene.gl import current_platform
from landscope_app.scene.probe import GlInfo, probe_gl

PROBE = """
import sys
from PySide6.QtGui import QGuiApplication
from landscope_app.scene.probe import probe_gl
assert probe_gl() is None, "an answer without an application"
application = QGuiApplication([])
print("found" if probe_gl() else "nothing")
assert "OpenGL" not in sys.modules, "PyOpenGL was imported before a context was current"
"""

HEADLESS = """
import sys
import numpy as np
from landscope_app.scene.offscreen import image_array, render_image
from landscope_app.scene.scene import SceneState
from landscope_app.state.camera import RESET
x = np.linspace(-1, 1, 9)
picture = image_array(render_image(SceneState(x=x, y=x, z=np.add.outer(x**2, x**2)), RESET, 400, 300))
texts = (np.abs(picture[..., :3].astype(int) - (0xE3, 0xE7, 0xEE)) < 60).all(axis=2)
print(picture.shape, texts.any(), len(np.unique(picture.reshape(-1, 4), axis=0)) > 200)
"""


def run(script: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    changed = {**os.environ, **{k: v for k, v in environment.items() if v is not None}}
    for name in (k for k, v in environment.items() if v is None):
        changed.pop(name, None)
    return subprocess.run(
        [sys.executable, "-c", script], env=changed, capture_output=True, text=True, timeout=120
    )


@pytest.mark.gl
def test_that_the_screen_s_driver_is_described(screen: QApplication) -> None:
    info = probe_gl()
    assert info is not None
    assert info.number >= (3, 3)
    assert info.renderer
    assert info.samples == (0 if info.software else 4)
    if sys.platform.startswith("linux"):
        assert info.platform in ("glx", "egl")
    assert QOpenGLContext.currentContext() is None


@pytest.mark.gl
def test_that_a_screen_without_opengl_is_found_out_and_nothing_crashes(screen: QApplication) -> None:
    done = run(PROBE, QT_XCB_GL_INTEGRATION="none")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "nothing"


@pytest.mark.gl
def test_that_probing_finds_opengl_without_importing_pyopengl(screen: QApplication) -> None:
    done = run(PROBE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "found"


def test_that_a_platform_without_opengl_is_not_even_asked() -> None:
    done = run(PROBE, QT_QPA_PLATFORM="offscreen", DISPLAY=None)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "nothing"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="EGL without a display exists on Linux only")
def test_that_a_picture_with_texts_is_drawn_without_any_display() -> None:
    done = run(HEADLESS, DISPLAY=None, WAYLAND_DISPLAY=None, QT_QPA_PLATFORM=None)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(300, 400, 4) True True"


def test_that_no_context_means_no_platform() -> None:
    if QOpenGLContext.currentContext() is None:
        assert current_platform() is None


def test_that_a_software_driver_gets_no_multisampling() -> None:
    software = GlInfo("Mesa", "llvmpipe", "4.5", (4, 5), True, "glx")
    hardware = GlInfo("NVIDIA", "RTX", "4.6", (4, 6), False, "glx")
    assert (software.samples, hardware.samples) == (0, 4)
