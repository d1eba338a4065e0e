"""The spectra that a session holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from landscope.saturation.spectra import Spectrum
from landscope.session.read import read

SESSION = ".h5"


def spectra_of_session(path: Path) -> list[Spectrum]:
    """Of every layer, by run, mode and checkpoint; ``epoch`` is the place of the checkpoint in its run.

    Raises:
        SessionError: the file cannot be read.
    """
    session = read(path)
    places = {
        (run.name, checkpoint.name): place
        for run in session.runs.values()
        for place, checkpoint in enumerate(run.checkpoints)
    }
    return [
        Spectrum(
            mode=measured.mode,
            layer=layer.layer,
            epoch=places.get((measured.run, measured.checkpoint), len(places)),
            dimension=layer.dimension,
            values=np.asarray(layer.spectrum, np.float64),
            run=measured.run,
            checkpoint=measured.checkpoint,
        )
        for saturation in session.saturation.values()
        for measured in saturation.measured.values()
        for layer in measured.layers
    ]
