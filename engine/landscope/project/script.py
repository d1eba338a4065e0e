"""The model script: what it offers, called in its own surroundings, its errors told with file and line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from landscope.contract.errors import ScriptError
from landscope.contract.events import Notice
from landscope.project.running.blame import adapter_hint, blaming, line_of
from landscope.project.running.environment import (
    Environment,
    put_randomness,
    read_randomness,
    seed_everything,
)
from landscope.project.running.generators import generators_in
from landscope.project.running.imports import ScriptModules, drop_loaded
from landscope.project.running.printing import Echo

_SPLITS = ("train", "test")
_OUTPUTS = ("input", "inputs", "output", "outputs", "out", "pred", "preds", "prediction", "predictions",
            "logits", "logit", "y_pred", "y_hat", "yhat", "scores")  # fmt: skip


class ModelScript:
    """A loaded script.

    Attributes:
        path: its file. module: the module itself.
        splits: ``("train", "test")`` if ``build_data`` takes a split, else ``("train",)``.
        loss, metrics, batch_size: the script's own functions, None where it has none.
        takes_outputs: ``loss`` is a criterion of the model's output and the labels, not of model and batch.
        notices: what a person should know. environment: its surroundings.
    """

    def __init__(self, modules: ScriptModules, module: ModuleType, environment: Environment) -> None:
        self.path, self.module, self.environment = modules.script, module, environment
        self.notices: list[Notice] = []
        self._modules = modules
        self._start: Any = None
        self._build_model = self._required("build_model")
        self._build_data = self._required("build_data")
        self.loss = self._optional("loss")
        self.takes_outputs = self.loss is not None and _takes_outputs(self.loss)
        self.metrics = self._optional("metrics")
        self.batch_size = self._optional("batch_size")
        self.splits: tuple[str, ...] = _SPLITS if _takes(self._build_data, "split") else _SPLITS[:1]

    def build_model(self, run: str = "") -> nn.Module:
        """A fresh model, built from the same random state every time.

        Args:
            run: name of the run, given to scripts whose ``build_model`` takes it.

        Raises:
            ScriptError: it cannot be built; also when the function needs other arguments.
        """
        arguments = {"run": run} if _takes(self._build_model, "run") else {}
        self._check_arguments(self._build_model, set(arguments))
        with self.environment.entered(), self._calling("build_model()", self._build_model):
            if self._start is None:
                self._start = read_randomness()
            put_randomness(self._start)
            built = self._build_model(**arguments)
        return self._as_module(built)

    def build_data(self, split: str, seed: int = 0) -> Any:
        """What the script's ``build_data`` gives for a split; iterate it inside ``environment.entered()``.

        Raises:
            ScriptError: it raised, or needs other arguments.
        """
        arguments = {"split": split} if _takes(self._build_data, "split") else {}
        self._check_arguments(self._build_data, set(arguments))
        with self.environment.entered(), self._calling(f"build_data({split!r})", self._build_data):
            seed_everything(seed)
            return self._build_data(**arguments)

    @contextmanager
    def blaming(
        self, doing: str, function: Callable[..., Any] | None = None, model: nn.Module | None = None
    ) -> Iterator[None]:
        """Turn errors of the script into sentences.

        Args:
            doing: what is going on. function: told when no line is on the stack.
            model: whose layer is named if it raised.
        """
        function = function or self._build_model
        with blaming(self._modules.owns_file, self.path, doing, function, model=model):
            yield

    @contextmanager
    def _calling(self, doing: str, function: Callable[..., Any]) -> Iterator[None]:
        """As ``blaming``, with what was printed meanwhile in the details: options may be parsed in here."""
        echo = Echo()
        with blaming(self._modules.owns_file, self.path, doing, function, echo.text), echo.listening():
            yield

    def generators(self, model: nn.Module) -> list[Any]:
        """Random generators that the project's modules and the model hold, beside the global ones."""
        return generators_in([*map(vars, self._modules.loaded()), *map(vars, model.modules())])

    def where(self, function: str) -> str:
        """File and line of one of the script's functions, for sentences."""
        line = line_of(getattr(self.module, function, None))
        return f"{self.path.name} line {line}" if line else self.path.name

    def close(self) -> None:
        """Forget the project's modules."""
        self._modules.close()

    def _required(self, name: str) -> Callable[..., Any]:
        found = self._optional(name)
        if found is None:
            line = len(self.path.read_text(encoding="utf-8", errors="replace").splitlines())
            raise ScriptError(
                f"{self.path.name} line {line}: the script ends without a function {name}(); "
                f"add one, or {adapter_hint(self.path)}."
            )
        return found

    def _optional(self, name: str) -> Callable[..., Any] | None:
        found = getattr(self.module, name, None)
        return found if callable(found) else None

    def _check_arguments(self, function: Callable[..., Any], given: set[str]) -> None:
        needed = [name for name in _required_names(function) if name not in given]
        if needed:
            name = function.__name__
            raise ScriptError(
                f"{self.where(name)}: {name}() needs the argument {needed[0]!r}, which is not known here; "
                f"give it a default, or {adapter_hint(self.path)}."
            )

    def _as_module(self, built: Any) -> nn.Module:
        """The model; of several things, as in ``(model, criterion, …)``, the first module, with a notice."""
        if isinstance(built, nn.Module):
            return built
        if isinstance(built, (tuple, list, dict)):
            parts = list(built.values() if isinstance(built, dict) else built)
            model = next((part for part in parts if isinstance(part, nn.Module)), None)
            if model is not None:
                sentence = (
                    f"build_model() of {self.path.name} gave {len(parts)} things; the first model is used"
                )
                self._notice(f"{sentence} ({type(model).__name__}).")
                return model
        is_class = isinstance(built, type) and issubclass(built, nn.Module)
        what = f"the class {built.__name__}, not a model: call it" if is_class else type(built).__name__
        rest = "." if is_class else ", not a torch.nn.Module."
        raise ScriptError(f"{self.where('build_model')}: build_model() gave {what}{rest}")

    def _notice(self, sentence: str) -> None:
        if all(notice.sentence != sentence for notice in self.notices):
            self.notices.append(Notice(level="info", sentence=sentence))


def load_script(
    path: str | Path, *, seed: int = 0, arguments: tuple[str, ...] = (), project: str | Path | None = None
) -> ModelScript:
    """Import a script: its code runs, so its folder must be trusted.

    Modules of a project that was loaded before in this process are dropped.

    Args:
        path: the script. seed: of its random generators. arguments: what it finds in ``sys.argv``.
        project: folder of the whole project, whose modules can be imported too.

    Raises:
        ScriptError: it cannot be read or imported, or lacks ``build_model`` or ``build_data``.
    """
    file = Path(path)
    if not file.is_file():
        raise ScriptError(f"There is no script {file}.")
    drop_loaded()
    modules = ScriptModules(file, Path(project) if project else None)
    environment = Environment(modules.script, modules.paths, seed, arguments)
    echo = Echo()
    with (
        environment.entered(),
        blaming(modules.owns_file, modules.script, "its import", text=echo.text),
        echo.listening(),
    ):
        module = modules.load()
    modules.stay_importable()
    return ModelScript(modules, module, environment)


def _takes_outputs(loss: Callable[..., Any]) -> bool:
    """Whether a loss has the form ``criterion(output, target)``, told by the name of what it takes first."""
    parameters = _parameters(loss.forward if isinstance(loss, nn.Module) else loss)
    return len(parameters) >= 2 and parameters[0].name.lower() in _OUTPUTS


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _takes(function: Callable[..., Any], name: str) -> bool:
    return any(p.name == name and p.kind is not p.POSITIONAL_ONLY for p in _parameters(function))


def _required_names(function: Callable[..., Any]) -> list[str]:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in _parameters(function) if p.default is p.empty and p.kind not in variable]
