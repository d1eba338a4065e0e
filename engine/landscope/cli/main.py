"""``landscope``: the window, or one of the verbs for machines with no screen.

Exit codes: 0 all done; 2 bad input, or an analysis could not be made (what could be is saved);
130 interrupted (what was found is saved); 141 whoever read the output has gone.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import NoReturn

import landscope
from landscope.cli.leaving import leave_in_time
from landscope.cli.streams import replace_closed_streams
from landscope.contract.errors import LandscopeError, OptionError
from landscope.contract.plan import ANALYSES, ON_REQUEST

BAD_INPUT = 2
INTERRUPTED = 130
READER_GONE = 141
_ONLY = f"comma-separated: {', '.join(ANALYSES)}; only on request: {', '.join(ON_REQUEST)}"
_VERBS = ("run", "info", "render", "export", "recover", "trust", "new-script", "saturation", "sample")
_NO_SCREEN = (
    "There is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set). Without one: "
    "landscope run PROJECT -o session.h5, then landscope render session.h5 -o DIR."
)
_INSTALL_WINDOW = 'The window is not installed; run: pip install "landscope[app]"'


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    Without ``argv`` it is the whole program, which then ends in two seconds at the latest.
    """
    words = sys.argv[1:] if argv is None else argv
    replace_closed_streams()
    code = _answered(words)
    if argv is None and words[:1] == ["run"]:
        leave_in_time(code)
    return code


def _answered(words: list[str]) -> int:
    """What the words ask for, and every error as a sentence."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names may hold anything
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except LandscopeError as error:
        print(f"landscope: {error.sentence}", file=sys.stderr)
        if error.detail and {"-v", "--verbose"} & set(words):
            print(error.detail, file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at its end
        return READER_GONE
    except OSError as error:
        print(f"landscope: {error.filename or 'The system'}: {error.strerror or error}.", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED


def _dispatch(words: list[str]) -> int:
    if words and words[0] in ("render", "sample"):
        return _window("render" if words[0] == "render" else "window", words[words[0] == "render" :])
    if not words or (words[0] not in _VERBS and not words[0].startswith("-")):
        _check_word(words[0] if words else "")
        return _window("window", words)
    options = _parser().parse_args(_joined(words))
    if options.verb is None:
        return _window("window", words)
    if options.verb == "run":
        from landscope.cli.run import run

        return run(options)
    if options.verb == "trust":
        from landscope.cli.trust import trust

        return trust(options)
    if options.verb == "new-script":
        from landscope.cli.new_script import write

        return write(options)
    if options.verb == "saturation" and options.action == "compare":
        from landscope.cli.compare import compare

        return compare(options)
    if options.verb == "saturation":
        from landscope.cli.saturation import saturation

        return saturation(options)
    if options.verb == "recover":
        from landscope.cli.recover import recover

        return recover(options)
    from landscope.cli.inspect import export, info

    return info(options) if options.verb == "info" else export(options)


def _joined(words: list[str]) -> list[str]:
    """``--args --deep`` as ``--args=--deep``: argparse takes a word with dashes for a flag of its own."""
    place = words.index("--args") if "--args" in words[:-1] else -1
    return words if place < 0 else [*words[:place], f"--args={words[place + 1]}", *words[place + 2 :]]


def _check_word(word: str) -> None:
    if word and not Path(word).expanduser().exists():
        verbs = ", ".join(_VERBS)
        raise OptionError(f"There is no verb “{word}” and nothing at that place; the verbs: {verbs}.")


def _has_screen() -> bool:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)


def _window(name: str, words: list[str]) -> int:
    """Hand over to the program registered under ``landscope.window``; the engine never names it."""
    if name == "window" and not _has_screen() and not {"-h", "--help"} & set(words):
        raise LandscopeError(_NO_SCREEN)
    for entry in entry_points(group="landscope.window", name=name):
        try:
            program = entry.load()
        except ImportError as error:
            raise LandscopeError(f"{_INSTALL_WINDOW} ({error})") from error
        return int(program(words))
    raise LandscopeError(_INSTALL_WINDOW)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"landscope: {message}.", file=sys.stderr)
        sys.exit(BAD_INPUT)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="landscope",
        description="See how a PyTorch network trained. Without a verb: open the window.",
        epilog="landscope [PATH] opens the window; landscope sample opens it on the sample project; "
        "landscope render SESSION -o DIR draws pictures without a screen.",
    )
    parser.add_argument("--version", action="version", version=f"landscope {landscope.__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar=f"{{{','.join(_VERBS)}}}")
    _add_run(verbs.add_parser("run", help="analyse a project and save a session"))
    _add_session_verbs(verbs)
    trust = verbs.add_parser("trust", help="say that code of a folder may run, or take it back")
    trust.add_argument("folder", type=Path, nargs="?", help="without it: list the trusted folders")
    trust.add_argument("--revoke", action="store_true", help="take the trust back")
    _add_new_script(verbs.add_parser("new-script", help="write landscope_project.py for a repository"))
    _add_saturation(verbs.add_parser("saturation", help="saturation at another threshold; two runs compared"))
    verbs.add_parser("render", help="draw the pictures of a session; see landscope render --help")
    verbs.add_parser("sample", help="open the window on the sample project")
    return parser


def _add_session_verbs(verbs: argparse._SubParsersAction[_Parser]) -> None:
    info = verbs.add_parser("info", help="what a session, a checkpoint or a folder of checkpoints holds")
    info.add_argument("path", type=Path, help="a session, a checkpoint file, or a folder of checkpoints")
    info.add_argument("--json", action="store_true", help="for scripts")
    export = verbs.add_parser("export", help="write the data of a session as CSV and NPZ")
    export.add_argument("path", type=Path, help="a session file")
    export.add_argument("-o", "--output", type=Path, required=True, help="folder for the files")
    export.add_argument("--format", default="csv,npz", help="csv, npz or both (default: %(default)s)")
    recover = verbs.add_parser("recover", help="save what a crash or a kill kept from being saved")
    recover.add_argument("name", nargs="?", default="", help="which one, by the start of its name")
    recover.add_argument("-o", "--output", type=Path, help="session file; without it: list what is there")


def _add_new_script(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Writes landscope_project.py into FOLDER: what Landscope builds from the scripts there. Nothing is "
        "run: model, data and options are told from the text. Names are NAME or FILE.py:NAME."
    )
    parser.add_argument("folder", type=Path, help="the folder of the repository")
    parser.add_argument("--script", type=Path, help="the script to speak for (default: the likeliest)")
    parser.add_argument("--model", default="", help="what builds the model")
    parser.add_argument("--data", default="", help="what gives the data")
    parser.add_argument("--loss", default="", help="the loss, of model and batch or of outputs and labels")
    parser.add_argument("--force", action="store_true", help="replace a file that somebody wrote")


def _add_saturation(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="{rethreshold,compare}")
    verb = actions.add_parser("rethreshold", help="idim and lsat of every layer and epoch at a threshold")
    verb.add_argument("path", type=Path, help="what a writer left, NAME.csv or a folder, or a session (.h5)")
    verb.add_argument("--threshold", type=float, required=True, help="share of the variance, such as 0.99")
    verb.add_argument(
        "--idim-rule",
        choices=("smallest_k", "delve"),
        default="smallest_k",
        help="smallest_k: how many eigenvalues reach the share; delve: one less (default: %(default)s)",
    )
    verb.add_argument("-o", "--output", type=Path, help="file to write; without it: print")
    _add_compare(actions.add_parser("compare", help="two runs of a session, layer by layer"))


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Prints every layer of run A, the value of the layer of that name in run B at the checkpoint that "
        "corresponds (same step or epoch, else nearest share of the training), and A − B."
    )
    parser.add_argument("session", type=Path, help="session file (.h5)")
    parser.add_argument("--run", required=True, metavar="A", help="the run to look at")
    parser.add_argument("--with", required=True, metavar="B", dest="other", help="the run to compare it with")
    parser.add_argument("--checkpoint", metavar="NAME", help="a checkpoint of A (default: its last)")
    parser.add_argument("--threshold", type=float, help="share of the variance (default: as A was measured)")
    parser.add_argument("--split", choices=("train", "test"), default="train", help="default: %(default)s")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table there, with all statistics")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", help="a folder, a script, a landscope.toml, or the word sample")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        help="session file to write (.h5); one that is there is kept as .bak",
    )
    parser.add_argument("--only", default="", help=_ONLY)
    parser.add_argument("--run", action="append", default=[], help="only this run (may be repeated)")
    parser.add_argument("--script", type=Path, help="the model script, instead of the one found")
    parser.add_argument(
        "--runs",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder of checkpoints, instead of those found (may be repeated)",
    )
    parser.add_argument(
        "--args", default=None, help='arguments of the script, such as "--depth 20 --width 2"'
    )
    parser.add_argument("--weights", help="set of weights to measure: its name in the files, or averaged")
    parser.add_argument("--grid", type=int, help="points per axis of planes: 5, 9, 17, 33, 65 or 129")
    parser.add_argument("--points", type=int, help="points of lines")
    parser.add_argument("--reach", type=float, help="half extent of random planes (1 = the weights' length)")
    parser.add_argument("--seed", type=int, help="seed of random directions")
    parser.add_argument("--batchnorm", choices=("auto", "frozen", "recalibrated"), help="BatchNorm policy")
    _add_saturation_options(parser)
    parser.add_argument("--samples", type=int, help="samples per split (0 = all)")
    parser.add_argument("--device", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument("--threads", type=int, help="intra-op threads of torch (default: 1)")
    parser.add_argument("--trust", action="store_true", help="the code of this folder may run, now and later")
    told = parser.add_mutually_exclusive_group()
    told.add_argument("--quiet", action="store_true", help="only errors")
    told.add_argument("-v", "--verbose", action="store_true", help="warnings, and errors with their details")


def _add_saturation_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("saturation")
    group.add_argument("--sat-threshold", type=float, help="share of the variance (default: 0.99)")
    group.add_argument(
        "--conv-method",
        choices=("channelwise", "mean", "max", "median", "flatten"),
        help="what a map becomes (default: channelwise, every position a sample)",
    )
    group.add_argument(
        "--timeseries-method",
        choices=("last_timestep", "timestepwise"),
        help="what a sequence becomes (default: last_timestep)",
    )
    group.add_argument(
        "--idim-rule", choices=("smallest_k", "delve"), help="delve: count as delve does, one less"
    )
    group.add_argument("--sat-split", metavar="SPLIT", help="the data they are measured on (default: train)")
    group.add_argument(
        "--layers", metavar="NAMES", help="more layers, by name or class, comma-separated: Embedding,norm1"
    )
    group.add_argument(
        "--row-share", type=float, metavar="S", help="take about this share of each layer's rows: faster"
    )
    group.add_argument(
        "--no-embedding", action="store_true", help="do not keep samples in the first two directions"
    )


if __name__ == "__main__":
    sys.exit(main())
