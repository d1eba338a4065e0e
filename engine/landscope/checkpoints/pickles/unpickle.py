"""Reading pickles of torch files without importing or calling anything that the file names.

Only functions of ``harmless`` and ``rebuilt`` run. They rebuild plain values and describe tensors; every
other name becomes an inert ``Foreign`` placeholder that keeps what was stored in it.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import IO, Any

from landscope.checkpoints.pickles.foreign import Foreign
from landscope.checkpoints.pickles.harmless import HARMLESS
from landscope.checkpoints.pickles.rebuilt import (
    DTYPES,
    REBUILD,
    STORAGE_TYPES,
    DtypeName,
    Rebuild,
    StorageType,
    StoredBytes,
)
from landscope.checkpoints.records import Storage

__all__ = ["DtypeName", "RestrictedUnpickler"]

_STORAGES = re.compile(r"torch(\.\w+)?")
_LARGEST = 1 << 62
_MOST_KINDS = 2000
_LONGEST_NAME = 200


class RestrictedUnpickler(pickle.Unpickler):
    """An unpickler whose every name leads to this package.

    Args:
        file: the pickle.
        locate: key of a storage to its place in the file.

    Attributes:
        refused: names the file wanted and did not get, in order.
        storages: dtype and element count by key, as the pickle states them (legacy files need them).
    """

    def __init__(self, file: IO[bytes], locate: Callable[[str], Storage | None]) -> None:
        super().__init__(file)
        self._locate = locate
        self._found: dict[tuple[str, str], Any] = {}
        self.refused: list[str] = []
        self.storages: dict[str, tuple[str, int]] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Never imports: a function or class of this package, or a placeholder."""
        key = (module, name)
        if key not in self._found:
            self._found[key] = self._stand_in(module, name)
        return self._found[key]

    def _stand_in(self, module: str, name: str) -> Any:
        full = f"{module}.{name}"
        if name in STORAGE_TYPES and _STORAGES.fullmatch(module):
            return StorageType(STORAGE_TYPES[name])
        if module == "torch" and name in DTYPES:
            return DtypeName(name)
        if full in REBUILD:
            return Rebuild(REBUILD[full], self._locate)
        return HARMLESS[full] if full in HARMLESS else self._placeholder(full[:_LONGEST_NAME])

    def persistent_load(self, pid: Any) -> Any:
        """A storage: ``("storage", type, key, device, elements[, view])``.

        Old files also have ``("module", class, file, source)`` where a class of a module is meant.

        Raises:
            pickle.UnpicklingError: anything else.
        """
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
            return pid[1]
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
            raise pickle.UnpicklingError("unknown persistent id")
        kind, key, count = pid[1], pid[2], pid[4]
        known = isinstance(kind, StorageType) and isinstance(key, (str, int)) and type(count) is int
        if not known:
            raise pickle.UnpicklingError("unknown kind of storage")
        self.storages[str(key)] = (kind.dtype, count)
        view = pid[5] if len(pid) > 5 and pid[5] is not None else ("", 0)
        if not isinstance(view, tuple) or type(view[1]) is not int or not 0 <= view[1] < _LARGEST:
            raise pickle.UnpicklingError("unknown view of a storage")
        return StoredBytes(kind.dtype, str(key), view[1])

    def _placeholder(self, origin: str) -> type[Foreign]:
        if len(self.refused) >= _MOST_KINDS:
            raise pickle.UnpicklingError(f"names more than {_MOST_KINDS} foreign things")
        if origin not in self.refused:
            self.refused.append(origin)
        return type("Placeholder", (Foreign,), {"origin": origin})
