"""Arrays from .npy and .npz files of others: nothing is unpickled, nothing allocated that the file lacks."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from landscope.contract.errors import StatisticsFileError

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npy(path: Path) -> NDArray[Any]:
    """The array of a .npy file.

    Raises:
        StatisticsFileError: the file cannot be read, is damaged, or holds Python objects.
    """
    try:
        with path.open("rb") as file:
            return _array(file, path.stat().st_size)
    except OSError as error:
        raise StatisticsFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise StatisticsFileError(f"{path} is no array of numbers, or is damaged: {error}.") from error


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an uncompressed .npz file, by name.

    Raises:
        StatisticsFileError: the file cannot be read, is damaged or compressed, or holds Python objects.
    """
    try:
        if path.exists() and not path.is_file():
            raise ValueError("it is no regular file")
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise ValueError("it is compressed")
            if sum(member.file_size for member in members) > path.stat().st_size:
                raise ValueError("it claims more than it holds")
            return {member.filename.removesuffix(".npy"): _member(archive, member) for member in members}
    except OSError as error:
        raise StatisticsFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (
        *(ValueError, TypeError, SyntaxError, RecursionError, MemoryError),
        *(zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError),
    ) as error:
        raise StatisticsFileError(f"{path} holds no arrays of numbers, or is damaged: {error}.") from error


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        return _array(file, member.file_size)


def _array(file: IO[bytes], size: int) -> NDArray[Any]:
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"its format is version {version}")
    shape, fortran, dtype = _HEADERS[version](file)
    if dtype.kind not in "biufcU" or not dtype.itemsize:
        raise ValueError(f"it holds {dtype}, not numbers")
    needed = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or needed != size - file.tell():
        raise ValueError(f"its header tells of {needed} bytes and {size - file.tell()} are there")
    return np.ndarray(shape, dtype, buffer=file.read(), order="F" if fortran else "C")
