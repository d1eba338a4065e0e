"""Build the application as one folder, without torch, and check that it starts.

With ``--session FILE`` the built program also opens that session in its window (on a display, e.g. under
``xvfb-run``) and its picture is written beside it, as ``dist/session.png``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD, DIST = ROOT / "build", ROOT / "dist"
ENVIRONMENT = BUILD / "app-environment"
SUFFIX = ".exe" if os.name == "nt" else ""
PYTHON = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / f"python{SUFFIX}"
PROGRAM = DIST / "Landscope" / f"Landscope{SUFFIX}"


def call(*command: str | Path, timeout: float | None = None) -> str:
    """Run a command in the project's folder; return what it prints, raise if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, timeout=timeout)
    return done.stdout.strip()


def make_environment() -> None:
    """Make an environment with the window and PyInstaller and without torch."""
    if not PYTHON.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    # Installed, not editable: PyInstaller then sees what a person would get.
    call(PYTHON, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", ROOT)
    call(PYTHON, "-m", "pip", "install", "--quiet", f"{ROOT}[app]", "pyinstaller>=6.11")


def build() -> None:
    """Run PyInstaller with our recipe."""
    spec = ROOT / "packaging" / "landscope.spec"
    options = ("--noconfirm", "--log-level=WARN", "--distpath", DIST, "--workpath", BUILD / "pyinstaller")
    call(PYTHON, "-m", "PyInstaller", *options, spec)


def check(session: Path | None) -> None:
    """Start what was built: its version, that torch is not in it, and a session in the window."""
    print(call(PROGRAM, "--version", timeout=60))
    if list(PROGRAM.parent.rglob("torch")):
        sys.exit("build_app.py: torch has found its way into the application.")
    if session is not None:
        picture = DIST / "session.png"
        picture.unlink(missing_ok=True)
        call(PROGRAM, session.resolve(), "--grab", picture, "--after", "12", timeout=120)
        if not picture.exists():
            sys.exit("build_app.py: the application did not show the session.")
        print(picture)


def main() -> None:
    """Build and check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session", type=Path, help="a session that the built program has to open")
    options = parser.parse_args()
    make_environment()
    build()
    size = sum(
        file.stat().st_size for file in PROGRAM.parent.rglob("*") if file.is_file() and not file.is_symlink()
    )
    print(f"{PROGRAM} ({size / 1e6:.0f} MB)")
    check(options.session)


if __name__ == "__main__":
    main()
