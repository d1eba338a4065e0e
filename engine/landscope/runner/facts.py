"""Facts that make a result repeatable: versions, device, script, data."""

from __future__ import annotations

import hashlib
import platform
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import landscope

if TYPE_CHECKING:
    from landscope.project.subject import Subject


def facts(subject: Subject) -> dict[str, str]:
    """What a reader of the session needs to know to repeat it."""
    import torch

    script = Path(subject.project.script)
    text = script.read_text(encoding="utf-8", errors="replace")
    return {
        "landscope": landscope.__version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "system": platform.platform(),
        "device": str(subject.device),
        "threads": str(torch.get_num_threads()),
        "script": str(script),
        "script_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "script_text": text,
        "data_seed": str(subject.project.data.seed),
        "arguments": shlex.join(subject.project.arguments),
        "weights": subject.project.weights,
    } | {f"samples_{split}": str(subject.data.samples(split)) for split in subject.data.splits}
