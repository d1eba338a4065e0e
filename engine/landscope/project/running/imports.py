"""Importing a script as its author runs it: its folder first on the path, its siblings its own."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

_KEPT = ("landscope", "landscope_app", "landscope_resources", "torch", "numpy", "msgspec", "h5py")
"""Packages that Landscope itself runs on: a sibling of that name does not displace them."""
_active: list[ScriptModules] = []


def drop_loaded() -> None:
    """Drop the modules of the project that was loaded before, and its folders from ``sys.path``.

    Outside the surroundings of any script: what they put back at their end would bring the folders back.
    """
    while _active:
        _active.pop().close()


class ScriptModules:
    """The modules of one project in this process.

    Attributes:
        script: the script's file. folder: where it lies.
        root: folder that holds its outermost package, its own folder if it is in none.
        name: dotted module name.

    Args:
        project: folder of the whole project, from which people start scripts too; None = the script's own.
    """

    def __init__(self, script: Path, project: Path | None = None) -> None:
        self.script = script.resolve()
        self.folder = self.script.parent
        self.root = _package_root(self.folder, _relative_level(self.script))
        self.project = project.resolve() if project else self.root
        self.name = self._module_name()
        self._hidden: dict[str, ModuleType] = {}
        self._before: frozenset[str] = frozenset()

    @property
    def paths(self) -> tuple[str, ...]:
        """Entries for ``sys.path``: folders of the script, of its outermost package and of the project.

        A project whose packages lie in ``src`` is mostly installed where it is trained, and seldom here.
        """
        source = self.project / "src"
        sources = [source] if source.is_dir() and not (source / "__init__.py").exists() else []
        return tuple(dict.fromkeys(map(str, (self.folder, self.root, self.project, *sources))))

    def _module_name(self) -> str:
        stem = re.sub(r"\W", "_", self.script.stem)
        if self.root != self.folder and self.script.stem.isidentifier():
            return ".".join((*self.folder.relative_to(self.root).parts, self.script.stem))
        taken = stem in sys.stdlib_module_names or stem in sys.builtin_module_names
        return stem if stem.isidentifier() and not taken else f"script_{stem}"

    def load(self) -> ModuleType:
        """Import the script; ``drop_loaded`` must have made room.

        Raises:
            Exception: whatever the script raises.
        """
        _active.append(self)
        self._hide_namesakes()
        self._before = frozenset(sys.modules)
        importlib.invalidate_caches()
        if "." in self.name:
            importlib.import_module(self.name.rpartition(".")[0])
        return self._execute()

    def stay_importable(self) -> None:
        """Leave the project's folders at the end of ``sys.path``, for imports inside its functions."""
        sys.path.extend(path for path in self.paths if path not in sys.path)

    def _execute(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location(self.name, self.script)
        if spec is None or spec.loader is None:
            raise ImportError(f"{self.script.name} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(self.name, None)
            raise
        return module

    def _hide_namesakes(self) -> None:
        """Take away modules from elsewhere that bear the name of one of the script's siblings."""
        for name in (*_siblings(self.folder), self.name.partition(".")[0]):
            top = sys.modules.get(name)
            if top is None or name in sys.stdlib_module_names or name in _KEPT or self._owns(top):
                continue
            for key in [k for k in sys.modules if k == name or k.startswith(name + ".")]:
                self._hidden[key] = sys.modules.pop(key)

    def _owns(self, module: ModuleType) -> bool:
        file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
        return file is not None and self.owns_file(str(file))

    def owns_file(self, file: str) -> bool:
        """Whether a source file belongs to the project (and is not an installed package below it)."""
        path = Path(file)
        inside = path == self.script or {self.root, self.project} & set(path.parents)
        return bool(inside) and not {"site-packages", "dist-packages"} & set(path.parts)

    def loaded(self) -> list[ModuleType]:
        """The project's modules."""
        return [sys.modules[name] for name in self._loaded()]

    def _loaded(self) -> list[str]:
        """Names of the project's modules, inner ones first: a namespace package asks its parent."""
        fresh = (
            (name, module)
            for name, module in reversed(list(sys.modules.items()))
            if name not in self._before and name.partition(".")[0] not in _KEPT
        )
        return [name for name, module in fresh if isinstance(module, ModuleType) and self._owns(module)]

    def close(self) -> None:
        """Drop the project's modules and give back the names they had taken."""
        for name in self._loaded():
            del sys.modules[name]
        sys.path[:] = [path for path in sys.path if path not in self.paths]
        sys.modules.update(self._hidden)
        self._hidden.clear()


def _package_root(folder: Path, level: int) -> Path:
    """Folder that holds the outermost package; relative imports make packages of folders above, too."""
    root = folder
    while root.parent != root and ((root / "__init__.py").is_file() or _depth(folder, root) < level):
        root = root.parent
    return root


def _depth(folder: Path, root: Path) -> int:
    return len(folder.relative_to(root).parts)


def _relative_level(script: Path) -> int:
    """The most dots in a relative import of a script; 0 if it has none or cannot be parsed."""
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return 0
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _siblings(folder: Path) -> Iterator[str]:
    for path in folder.iterdir():
        if path.suffix == ".py" and path.stem != "__init__":
            yield path.stem
        elif (path / "__init__.py").is_file():
            yield path.name
