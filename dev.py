"""Set up, run and test Landscope: ``python3 dev.py run`` and ``python3 dev.py test``.

Needs nothing but Python 3.11 or newer. What it installs for Python lies in ``.venv`` beside this file; on
Debian and Ubuntu the missing system packages are installed where root or sudo is available, else named.
``setup`` only sets up.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "landscope-setup"
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
LINUX = sys.platform.startswith("linux")

# What Qt, OpenGL and a screen in memory need on Debian and Ubuntu, beyond a bare installation.
DEBIAN_PACKAGES = (
    *("libglib2.0-0", "libgl1", "libegl1", "libdbus-1-3", "libfontconfig1", "libxkbcommon-x11-0"),
    *("libxcb-cursor0", "libxcb-icccm4", "libxcb-keysyms1", "libxcb-shape0", "xvfb", "xauth"),
)


class SetupError(Exception):
    """What keeps Landscope from being set up, as one sentence."""


def say(sentence: str) -> None:
    """Print a sentence at once."""
    print(f"dev.py: {sentence}", flush=True)


def call(*command: str | Path, **environment: str) -> int:
    """Run a command in the project's folder and return its exit code."""
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, env={**os.environ, **environment}
    ).returncode


def answer(*command: str | Path) -> str:
    """Return what a command prints, the empty text if it is missing or fails."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def set_up() -> None:
    """Bring system and Python packages to what this version of Landscope needs; at once if they are there."""
    if sys.version_info < (3, 11):  # noqa: UP036  this file must say so itself
        raise SetupError(f"Landscope needs Python 3.11 or newer, this is {sys.version.split()[0]}.")
    install_debian_packages()
    if STAMP.exists() and STAMP.read_text() == stamp():
        return
    make_environment()
    install_python_packages()
    STAMP.write_text(stamp())


def stamp() -> str:
    """Return a digest of all that decides what is installed."""
    parts = [(ROOT / "pyproject.toml").read_bytes(), CONSTRAINTS.read_bytes(), sys.version.encode()]
    return hashlib.sha256(b"\0".join([*parts, str(has_nvidia()).encode()])).hexdigest()


def install_debian_packages() -> None:
    """Install the missing system packages of Debian and Ubuntu, or say which they are."""
    if not (LINUX and shutil.which("dpkg-query") and shutil.which("apt-get")):
        return
    missing = missing_debian_packages()
    if not missing:
        return
    wanted = f"these Debian packages are missing: {' '.join(missing)}"
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if prefix and call_quietly("sudo", "-n", "true"):
        say(f"{wanted}; install them as root: apt-get install {' '.join(missing)}")
        return
    say(f"{wanted}; installing them.")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    call(*apt, "update")
    if call(*apt, "install", "--no-install-recommends", "-y", *missing):
        say("apt-get could not install them; drawing and its tests may fail.")


def missing_debian_packages() -> list[str]:
    """Return the names of the packages that are needed and not installed."""
    listed = answer("dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Package}\n").splitlines()
    # Debian 13 and Ubuntu 24.04 renamed some libraries: libglib2.0-0 is libglib2.0-0t64 there.
    there = {line[3:].strip().removesuffix("t64") for line in listed if line.startswith("ii")}
    return [name for name in DEBIAN_PACKAGES if name not in there] + (["python3-venv"] if no_venv() else [])


def no_venv() -> bool:
    """Tell whether this is a Debian Python whose venv module lacks its other half."""
    return not PYTHON.exists() and not answer(sys.executable, "-c", "import ensurepip, venv; print('there')")


def call_quietly(*command: str) -> bool:
    """Tell whether a command is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True).returncode != 0
    except OSError:
        return True


def make_environment() -> None:
    """Make ``.venv`` unless a working one of this Python version is there."""
    version = "import sys; print(*sys.version_info[:2])"
    if answer(PYTHON, "-c", version) == answer(sys.executable, "-c", version):
        return
    if no_venv():
        raise SetupError("this Python cannot make virtual environments; install python3-venv and try again.")
    say("making the virtual environment .venv")
    if call(sys.executable, "-m", "venv", "--clear", VENV):
        raise SetupError(".venv could not be made; see above.")


def install_python_packages() -> None:
    """Install Landscope, editable, with everything it needs to run and to be tested."""
    nvidia = has_nvidia()
    if not nvidia:
        install_torch_for_cpu()
    say("installing the Python packages (minutes the first time)")
    pip_install("-e", ".[all,test]", *([] if nvidia else ["-c", str(CONSTRAINTS)]))
    build = answer(PYTHON, "-c", "import torch; print(torch.__version__, torch.version.cuda or '')").split()
    if not build:
        raise SetupError("torch was installed but cannot be imported; remove .venv and try again.")
    kind = f"for CUDA {build[1]}" if len(build) > 1 else "without CUDA"
    say(f"set up with torch {build[0]}, a build {kind}.")


def has_nvidia() -> bool:
    """Tell whether an NVIDIA GPU can be used from here."""
    return bool(answer("nvidia-smi", "-L"))


def install_torch_for_cpu() -> None:
    """Install a build of torch without CUDA, which is gigabytes smaller; one that is there stays."""
    if answer(PYTHON, "-c", "import torch; print(torch.__version__)"):
        return
    pinned = next(line for line in CONSTRAINTS.read_text().splitlines() if line.startswith("torch=="))
    if LINUX and reachable(CPU_INDEX):
        say(f"no NVIDIA GPU: taking {pinned} from the index of CPU builds")
        pip_install(pinned, "--index-url", CPU_INDEX)
        return
    if brings_cuda(pinned):
        raise SetupError(
            f"only the CUDA build of {pinned} (gigabytes) can be reached, and there is no NVIDIA GPU; "
            f"install a torch of your choice with {PYTHON} -m pip install, then try again."
        )
    say(f"no NVIDIA GPU: taking {pinned} from the package index, which gives a CPU build here")
    pip_install(pinned)


def reachable(address: str) -> bool:
    """Tell whether an address answers within five seconds."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address + "/", method="HEAD"), timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def brings_cuda(requirement: str) -> bool:
    """Tell whether pip would install NVIDIA's libraries with ``requirement``; nothing is installed."""
    command = (PYTHON, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-", requirement)
    found = answer(*command)
    plan = json.loads(found)["install"] if found else []
    return any(item["metadata"]["name"].startswith("nvidia-") for item in plan)


def pip_install(*words: str) -> None:
    """Install into ``.venv``; stop with a sentence if pip fails."""
    if call(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words):
        raise SetupError(f"pip could not install {' '.join(words)}; see above.")


def run() -> int:
    """Open the window on the sample project; without a display do the same job into files."""
    landscope = BIN / "landscope"
    if not LINUX or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return call(landscope, "sample")
    out = ROOT / "out"
    session = out / "sample.h5"
    out.mkdir(exist_ok=True)
    say("there is no display: the sample project is analysed and drawn into files.")
    code = call(landscope, "run", "sample", "-o", session)
    if code == 130 or not session.exists():
        return code
    # One analysis that failed takes nothing from the others: they are in the session.
    drawn = call(landscope, "render", session, "-o", out)
    if drawn == 0:
        pictures = sorted(path.name for path in out.iterdir() if path.suffix in (".png", ".svg", ".pdf"))
        say(f"the session is {session}; the pictures beside it: {', '.join(pictures)}.")
    return code or drawn


def test(long: bool) -> int:
    """Run every check, then say which failed; the exit code is 0 only if none did."""
    checks: dict[str, list[str | Path]] = {
        "ruff check": [BIN / "ruff", "check", "."],
        "ruff format": [BIN / "ruff", "format", "--check", "."],
        "mypy": [BIN / "mypy"],
        "lint-imports": [BIN / "lint-imports"],
        "pytest": [*screen(), PYTHON, "-m", "pytest", *([] if long else ["-m", "not long"])],
    }
    failed = []
    for name, command in checks.items():
        say(f"{name}")
        if call(*command):
            failed.append(name)
    say(f"failed: {', '.join(failed)}." if failed else f"all of {', '.join(checks)} passed.")
    return 1 if failed else 0


def screen() -> list[str]:
    """Return what to put before a command that draws: a screen in memory where Linux has none."""
    if not LINUX or os.environ.get("DISPLAY"):
        return []
    if not shutil.which("xvfb-run"):
        say("xvfb-run is missing: tests that draw on a screen will fail.")
        return []
    return ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24"]


def main() -> int:
    """Read the command line and do it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("setup", help="only install what is missing")
    verbs.add_parser("run", help="open the window on the sample project")
    verbs.add_parser("test", help="run all checks").add_argument(
        "--long", action="store_true", help="with the tests that take minutes"
    )
    options = parser.parse_args()
    try:
        set_up()
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    if options.verb == "run":
        return run()
    return test(options.long) if options.verb == "test" else 0


if __name__ == "__main__":
    sys.exit(main())
