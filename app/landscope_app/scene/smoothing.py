"""Smooth edges without multisampling: several pictures, each shifted by part of a pixel, are averaged.

On software OpenGL multisampling costs every frame 2.5 times its price. Averaging costs only when the picture
rests, one ordinary frame at a time, and works for any size of an exported picture as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from landscope_app.scene import gl
from landscope_app.scene.programs import Program, Texture
from landscope_app.scene.scene import SceneRenderer
from landscope_app.scene.surface import Detail

# Eight rooks: no two in one row or column of an 8 × 8 pixel, the first one unshifted.
PATTERN = tuple(
    (x / 8, y / 8)
    for x, y in (
        (0, 0),
        (-3.5, 1.5),
        (2.5, -3.5),
        (3.5, 2.5),
        (-1.5, -2.5),
        (-2.5, 3.5),
        (1.5, -1.0),
        (0.5, 3.0),
    )
)
PASSES = len(PATTERN)


class Smoothing:
    """A framebuffer to draw into and the running average of what was drawn, in one context."""

    def __init__(self, width: int, height: int) -> None:
        """Allocate for device pixels.

        Raises:
            RuntimeError: when the driver cannot draw pictures of this size.
        """
        self.width, self.height = width, height
        self.passes = 0
        self._words: npt.NDArray[np.uint8] | None = None
        self._copy = Program("screen", "screen")
        self._vertices = gl.glGenVertexArrays(1)
        self._picture = Texture(gl.GL_RGBA8, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE)
        self._average = Texture(gl.GL_RGBA16F, gl.GL_RGBA, gl.GL_FLOAT)
        self._depth = gl.glGenRenderbuffers(1)
        self._target, self._sum = (int(n) for n in gl.glGenFramebuffers(2))
        self._picture.allocate(width, height)
        self._average.allocate(width, height)
        gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, self._depth)
        gl.glRenderbufferStorage(gl.GL_RENDERBUFFER, gl.GL_DEPTH_COMPONENT24, width, height)
        self._attach(self._target, self._picture, self._depth)
        self._attach(self._sum, self._average, None)

    def restart(self) -> None:
        """Forget the average, because the scene has changed."""
        self.passes = 0

    def add_pass(self, scene: SceneRenderer, transparent: bool = False, detail: Detail = Detail.FULL) -> None:
        """Draw the scene once more, shifted, and bring it into the average."""
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self._target)
        scene.draw(jitter=PATTERN[self.passes % PASSES], transparent=transparent, detail=detail)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self._sum)
        gl.glEnable(gl.GL_BLEND)
        gl.glBlendColor(0.0, 0.0, 0.0, 1.0 / (self.passes + 1))
        gl.glBlendFunc(gl.GL_CONSTANT_ALPHA, gl.GL_ONE_MINUS_CONSTANT_ALPHA)
        if self.passes == 0:
            gl.glDisable(gl.GL_BLEND)  # what was there before may be anything, even NaN
        self._fill_from(self._picture)
        gl.glBlendFunc(gl.GL_ONE, gl.GL_ONE_MINUS_SRC_ALPHA)
        self.passes += 1

    def show(self, framebuffer: int) -> None:
        """Copy the average into a framebuffer of the same size and leave that one bound."""
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
        gl.glDisable(gl.GL_BLEND)
        gl.glDisable(gl.GL_DEPTH_TEST)
        self._fill_from(self._average)
        gl.glEnable(gl.GL_BLEND)

    def draw_alone(self, scene: SceneRenderer, detail: Detail, empty: str) -> None:
        """Draw one picture that is not averaged, for `read_words`."""
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self._target)
        scene.draw(detail=detail, empty=empty)

    def read_words(self) -> npt.NDArray[np.uint8]:
        """Return what was last drawn or shown here as (height, width, 4) bytes: blue, green, red, alpha.

        The lowest row comes first. The array is used again by the next call.
        """
        if self._words is None:
            self._words = np.empty((self.height, self.width, 4), np.uint8)
        gl.read_pixels(self._words)
        return self._words

    def show_own(self) -> None:
        """Bring the average into the framebuffer that `read_words` reads."""
        self.show(self._target)

    def read(self) -> bytes:
        """Return the average as premultiplied RGBA bytes, lowest row first."""
        self.show_own()
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 4)
        gl.glPixelStorei(gl.GL_PACK_ROW_LENGTH, 0)
        data = gl.glReadPixels(0, 0, self.width, self.height, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE)
        return bytes(data)

    def release(self) -> None:
        """Delete the framebuffers; their context must be current."""
        gl.glDeleteFramebuffers(2, [self._target, self._sum])
        gl.glDeleteRenderbuffers(1, [self._depth])
        for owner in (self._copy, self._picture, self._average):
            owner.release()
        gl.glDeleteVertexArrays(1, [self._vertices])

    def _attach(self, framebuffer: int, texture: Texture, depth: Any) -> None:
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
        colour = gl.GL_COLOR_ATTACHMENT0
        gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, colour, gl.GL_TEXTURE_2D, texture.number, 0)
        if depth is not None:
            attachment = gl.GL_DEPTH_ATTACHMENT
            gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, attachment, gl.GL_RENDERBUFFER, depth)
        if gl.glCheckFramebufferStatus(gl.GL_FRAMEBUFFER) != gl.GL_FRAMEBUFFER_COMPLETE:
            raise RuntimeError(f"This driver cannot draw a picture of {self.width} × {self.height} pixels.")

    def _fill_from(self, texture: Texture) -> None:
        gl.glViewport(0, 0, self.width, self.height)
        self._copy.use()
        texture.bind(0)
        self._copy.set_int("u_picture", 0)
        gl.glBindVertexArray(self._vertices)
        gl.glDrawArrays(gl.GL_TRIANGLES, 0, 3)
        gl.glBindVertexArray(0)
        gl.glBindTexture(gl.GL_TEXTURE_2D, 0)
        gl.glUseProgram(0)
