"""Small owners of OpenGL objects: shader programs, buffers and textures."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from landscope_app.scene import gl

VERSION = "#version 330 core\n"


class Program:
    """A linked vertex and fragment shader of `landscope_resources/shaders`, with its uniforms by name."""

    def __init__(self, vertex: str, fragment: str, attributes: tuple[str, ...] = ()) -> None:
        self.number = gl.glCreateProgram()
        stages = [
            _stage(gl.GL_VERTEX_SHADER, f"{vertex}.vert"),
            _stage(gl.GL_FRAGMENT_SHADER, f"{fragment}.frag"),
        ]
        for stage in stages:
            gl.glAttachShader(self.number, stage)
        for location, name in enumerate(attributes):
            gl.glBindAttribLocation(self.number, location, name)
        gl.glLinkProgram(self.number)
        for stage in stages:
            gl.glDeleteShader(stage)
        if not gl.glGetProgramiv(self.number, gl.GL_LINK_STATUS):
            raise RuntimeError(
                f"The shaders {vertex} and {fragment} do not link: {_log(gl.glGetProgramInfoLog, self)}"
            )
        self._places: dict[str, int] = {}

    def use(self) -> None:
        """Make this the program that draws."""
        gl.glUseProgram(self.number)

    def place(self, name: str) -> int:
        """Return the location of a uniform; −1, which OpenGL ignores, when the compiler dropped it."""
        if name not in self._places:
            self._places[name] = int(gl.glGetUniformLocation(self.number, name))
        return self._places[name]

    def set(self, name: str, *values: float) -> None:
        """Set a float or vec2 … vec4 uniform of the program in use."""
        (gl.glUniform1f, gl.glUniform2f, gl.glUniform3f, gl.glUniform4f)[len(values) - 1](
            self.place(name), *values
        )

    def set_int(self, name: str, *values: int) -> None:
        """Set an int, ivec2 or sampler uniform of the program in use."""
        (gl.glUniform1i, gl.glUniform2i)[len(values) - 1](self.place(name), *values)

    def set_matrix(self, name: str, matrix: npt.NDArray[np.float64]) -> None:
        """Set a mat4 uniform from a (4, 4) matrix for column vectors."""
        gl.glUniformMatrix4fv(self.place(name), 1, True, np.ascontiguousarray(matrix, np.float32))

    def release(self) -> None:
        """Delete the program; its context must be current."""
        gl.glDeleteProgram(self.number)


class Buffer:
    """A vertex or index buffer that grows when it must and is otherwise overwritten."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.number = gl.glGenBuffers(1)
        self.size = -1

    def bind(self) -> None:
        """Bind to the target it was made for."""
        gl.glBindBuffer(self.target, self.number)

    def upload(self, data: npt.NDArray[Any]) -> None:
        """Replace the contents."""
        self.bind()
        if data.nbytes == self.size:
            gl.glBufferSubData(self.target, 0, data.nbytes, data)
            return
        gl.glBufferData(self.target, data.nbytes, data, gl.GL_DYNAMIC_DRAW)
        self.size = data.nbytes

    def release(self) -> None:
        """Delete the buffer; its context must be current."""
        gl.glDeleteBuffers(1, [self.number])


class Texture:
    """A 2-D texture that is read texel by texel (no filtering), of one internal format."""

    def __init__(self, internal: Any, layout: Any, kind: Any) -> None:
        self.internal, self.layout, self.kind = internal, layout, kind
        self.number = gl.glGenTextures(1)
        self.shape = (0, 0)

    def bind(self, unit: int = 0) -> None:
        """Bind to a texture unit."""
        gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
        gl.glBindTexture(gl.GL_TEXTURE_2D, self.number)

    def allocate(self, width: int, height: int, data: npt.NDArray[Any] | None = None) -> None:
        """Give it a size and, perhaps, contents; nothing is allocated again for an unchanged size."""
        self.bind()
        # Some other painter in this context (Qt's, for one) may have left its own way of unpacking. Rows here
        # are whole 4-byte words, and 4 is what that painter expects to find: with 1 its glyphs come out torn.
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 4)
        gl.glPixelStorei(gl.GL_UNPACK_ROW_LENGTH, 0)
        if self.shape != (width, height):
            for name in (gl.GL_TEXTURE_MIN_FILTER, gl.GL_TEXTURE_MAG_FILTER):
                gl.glTexParameteri(gl.GL_TEXTURE_2D, name, gl.GL_NEAREST)
            gl.glTexImage2D(
                gl.GL_TEXTURE_2D, 0, self.internal, width, height, 0, self.layout, self.kind, data
            )
            self.shape = (width, height)
        elif data is not None:
            gl.glTexSubImage2D(gl.GL_TEXTURE_2D, 0, 0, 0, width, height, self.layout, self.kind, data)

    def release(self) -> None:
        """Delete the texture; its context must be current."""
        gl.glDeleteTextures(1, [self.number])


def linear_colour(text: str, opacity: float = 1.0) -> tuple[float, float, float, float]:
    """Turn `#rrggbb` or `#aarrggbb` into red, green, blue, alpha between 0 and 1, not premultiplied."""
    digits = text.lstrip("#")
    alpha = int(digits[:2], 16) / 255 if len(digits) == 8 else 1.0
    red, green, blue = (int(digits[-6:][k : k + 2], 16) / 255 for k in (0, 2, 4))
    return red, green, blue, alpha * opacity


def _stage(kind: Any, name: str) -> int:
    source = (files("landscope_resources") / "shaders" / name).read_text(encoding="utf-8")
    number = gl.glCreateShader(kind)
    gl.glShaderSource(number, VERSION + source)
    gl.glCompileShader(number)
    if not gl.glGetShaderiv(number, gl.GL_COMPILE_STATUS):
        text = gl.glGetShaderInfoLog(number)
        raise RuntimeError(f"The shader {name} does not compile: {_text(text)}")
    return int(number)


def _log(read: Any, program: Program) -> str:
    return _text(read(program.number))


def _text(log: Any) -> str:
    return log.decode(errors="replace") if isinstance(log, bytes) else str(log)
