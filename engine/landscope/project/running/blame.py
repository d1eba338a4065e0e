"""Errors of a script as one sentence: file, line, what, and what to do."""

from __future__ import annotations

import bdb
import inspect
import os
import re
import shlex
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from landscope.checkpoints.wording import shown
from landscope.contract.errors import JobCancelled, LandscopeError, ScriptArgumentsError, ScriptError
from landscope.project.adapting.definitions import import_root
from landscope.project.running.process_end import outliving

if TYPE_CHECKING:
    from torch import nn

_MOST = 300
_NO_CUDA = re.compile(
    r"_cuda_|not compiled with CUDA|NVIDIA driver|no CUDA (GPUs|device)",
    re.I,
)
_ARGUMENTS = 'give arguments by --args "…", as arguments = ["…"] in landscope.toml, or in the window'
_EXIT_HINT = "move what the script does when it is started under if __name__ == '__main__':"


@contextmanager
def blaming(
    owns: Callable[[str], bool],
    script: Path,
    doing: str,
    function: Callable[..., Any] | None = None,
    text: Callable[[], str] = str,
    model: nn.Module | None = None,
) -> Iterator[None]:
    """Turn whatever the script raises into a ``ScriptError``, and what would end the process, too.

    Args:
        owns: whether a source file belongs to the project.
        script, function: told, with its line, when no line of the project is on the stack.
        doing: what was going on, as in "build_model()" or "loss() on batch 2 of 3".
        text: what the script printed meanwhile, for the details.
        model: whose layer is named if it raised.

    Raises:
        ScriptError: with the sentence, and the traceback in its details.
    """
    try:
        with outliving():
            yield
    except (LandscopeError, JobCancelled):
        raise
    except KeyboardInterrupt:
        if threading.current_thread() is threading.main_thread():  # it is the person's
            raise
        raise ScriptError(f"{script.name}: KeyboardInterrupt in {doing}.") from None
    except SystemExit as error:
        where = _where(owns, script, error.__traceback__, line_of(function))
        detail = "\n".join(filter(None, (text(), _trace(error))))
        kind = ScriptArgumentsError if _shows_usage(text()) else ScriptError
        raise kind(f"{where}: {_ended(script, doing, error, text())}.", detail) from error
    except BaseException as error:
        doing += _in_layer(model, error.__traceback__) if model else ""
        raise ScriptError(_sentence(owns, script, doing, line_of(function), error), _trace(error)) from error


def _ended(script: Path, doing: str, error: SystemExit, printed: str) -> str:
    """Why a script ended itself: over its arguments, if it printed its usage as argparse and click do."""
    if _shows_usage(printed):
        said = printed.strip().splitlines()[-1].strip().rstrip(".")
        return f"the script does not run with these arguments ({said}); {_ARGUMENTS}"
    code = _message(error).strip(": .") if isinstance(error.code, str) else f"exit code {error.code or 0}"
    return f"the script ended itself in {doing} ({code}); {_EXIT_HINT}, or {adapter_hint(script)}"


def _shows_usage(printed: str) -> bool:
    return re.search(r"^usage:", printed, re.I | re.M) is not None


def adapter_hint(script: Path) -> str:
    """What to do when a script is not made for Landscope and should stay as it is."""
    folder = shlex.quote(str(import_root(script)))
    return f"run landscope new-script {folder}, which writes a landscope_project.py that calls the script"


def line_of(function: Any) -> int | None:
    """Line where a Python function begins, None for anything else."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return code.co_firstlineno if code is not None else None


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _sentence(
    owns: Callable[[str], bool], script: Path, doing: str, line: int | None, error: BaseException
) -> str:
    if isinstance(error, SyntaxError):
        file = Path(error.filename).name if error.filename else script.name
        return f"{file} line {error.lineno or 1}: syntax error: {error.msg}."
    where = _where(owns, script, error.__traceback__, line)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{where}: the module {error.name!r} is not installed in the Python that runs the script."
    told = f"{where}: {type(error).__name__} in {doing}{_message(error)}"
    return told + "".join(f" {hint}." for hint in _hints(error))


def _hints(error: BaseException) -> Iterator[str]:
    """What to do about errors whose own words do not say it."""
    said = _said(error)
    if isinstance(error, bdb.BdbQuit) or (
        isinstance(error, EOFError) and said in ("", "EOF when reading a line")
    ):
        yield "The script asks for input, and nobody is there to answer: give it a default"
    if "more than 1 value per channel" in said:
        yield "This layer cannot run a single row: let build_data() give larger batches"
    name = error.filename if isinstance(error, FileNotFoundError) else None
    if isinstance(name, str) and name and not Path(name).is_absolute():
        yield "Relative paths begin at the script's folder"
    if _NO_CUDA.search(said):
        yield "There is no CUDA here: leave model and data where they are, they are moved to the device"
    if isinstance(error, KeyError) and _is_of_environment(error):
        yield "It is a variable of the environment: set it before Landscope starts, or give it a default"
    if any("sys.argv" in (frame.line or "") for frame in traceback.extract_tb(error.__traceback__)[-1:]):
        yield _ARGUMENTS[0].upper() + _ARGUMENTS[1:]


def _is_of_environment(error: BaseException) -> bool:
    """Whether looking into ``os.environ`` raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return any(frame.filename in (os.__file__, "<frozen os>") for frame in last)


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an error of the script's that cannot even say what it is
        return "it cannot be printed"


def _message(error: BaseException) -> str:
    text = " ".join(_said(error).split())
    text = text if len(text) <= _MOST else text[: _MOST - 1] + "…"
    return f": {text}" + ("" if text.endswith((".", "!", "?")) else ".") if text else "."


def _in_layer(model: nn.Module, trace: TracebackType | None) -> str:
    """The innermost layer that was running, as in " in layer bn (BatchNorm1d)"; empty if it is the model."""
    names = {id(module): name for name, module in model.named_modules()}
    running = [frame.f_locals.get("self") for frame, _ in traceback.walk_tb(trace)]
    found = [module for module in running if names.get(id(module))]
    return f" in layer {shown(names[id(found[-1])])} ({type(found[-1]).__name__})" if found else ""


def _where(owns: Callable[[str], bool], script: Path, trace: TracebackType | None, line: int | None) -> str:
    """File and line of the innermost frame that belongs to the project."""
    for frame in reversed(traceback.extract_tb(trace)):
        if owns(frame.filename):
            return f"{Path(frame.filename).name} line {frame.lineno}"
    return f"{script.name} line {line}" if line else script.name
