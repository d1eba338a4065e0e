"""Makes the pictures of README and docs anew (needs a display, such as ``xvfb-run`` gives).

Takes a session of the sample (``--session``; without it one is made first, which takes minutes) and writes
windows of the program into ``docs/images`` and the pictures of ``landscope render`` beside them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
RENDERED = ("compare-random.png", "surface-skip-trajectory.png", "saturation-skip.png", "distance-skip.png")


def landscope(*words: str | Path) -> None:
    """Run the program of this environment."""
    subprocess.run([sys.executable, "-m", "landscope.cli.main", *map(str, words)], check=True)


def window(name: str, *words: str | Path, after: float, theme: str = "dark") -> None:
    """Open the window, wait, take its picture from the screen."""
    target = IMAGES / f"{name}.png"
    options = ("--size", "1440x900", "--theme", theme, "--grab", target, "--after", str(after))
    subprocess.run([sys.executable, "-m", "landscope_app.main", *map(str, (*words, *options))], check=True)


def main() -> None:
    """Write every picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session", type=Path, help="a finished session of the sample")
    options = parser.parse_args()
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(LANDSCOPE_CONFIG_DIR=f"{folder}/config", LANDSCOPE_DATA_DIR=f"{folder}/data")
        session = options.session or Path(folder) / "sample.h5"
        if options.session is None:
            landscope("run", "sample", "-o", session)
        window("start", after=3)
        window("running", "sample", after=25)
        window("dark", session, after=8)
        window("light", session, after=8, theme="light")
        landscope("render", session, "-o", folder, "--size", "1200x800")
        for name in RENDERED:
            (IMAGES / name).write_bytes((Path(folder) / name).read_bytes())


if __name__ == "__main__":
    main()
