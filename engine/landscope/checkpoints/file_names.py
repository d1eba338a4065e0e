"""Names of files: the step or epoch that they state, what in them is no count, and their natural order."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

_SUFFIX = re.compile(
    r"(\.(pt|pth|ckpt|chkpt|checkpoint|bin|safetensors|tar|pkl|pickle|th|pyt|gz|index|json|model|weights))+$",
    re.IGNORECASE,
)
_NUMBER = r"[-_=]?(\d{1,18})([km]?)(?![a-z0-9])"
_COUNT = re.compile(r"(\d{1,18})(?:([km])(?![a-z0-9]))?")
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_STEP = re.compile(
    r"(?:^|[^a-z])(?:global[-_]?step|steps?|iterations?|iters?|it|updates?|batch|snapshot|checkpoint|ckpt)"
    + _NUMBER,
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(?:^|[^a-z])(?:epochs?|ep|e)" + _NUMBER, re.IGNORECASE)
_SHORT_STEP = re.compile(r"(?:^|[-_])s" + _NUMBER, re.IGNORECASE)
_SPECIAL = re.compile(r"(?:^|[^a-z])(best|last|final|latest|newest|current)(?:[^a-z]|$)", re.IGNORECASE)
_INIT = re.compile(
    r"(?:^|[^a-z])(init|initial|initialisation|initialization|start|untrained)(?:[^a-z]|$)", re.IGNORECASE
)
_NO_COUNT = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?P<dash>[-_.]?)(?:0[1-9]|1[0-2])(?P=dash)(?:0[1-9]|[12]\d|3[01])"  # a date,
    r"(?:[-_t. ]{0,2}(?:[01]\d|2[0-3])[-_.:h]?[0-5]\d(?:[-_.:m]?[0-5]\d)?)?(?!\d)"  # and the time of day
    r"|(?<!\d)(?:\d{0,18}\.)?\d{1,18}e[-+]\d{1,9}"  # 1e-4
    r"|(?<![a-z\d])(?:[a-z]{1,20}[-_=]?)?\d{1,18}\.\d{1,18}"  # any decimal fraction
    r"|(?<![a-z])(?:acc|accuracy|loss|f1|iou|miou|map|ap|psnr|ssim|auc|bleu|wer|ppl|mse|mae|rmse|score|reward"
    r"|lr|wd|bs|seed|fold|rank|dim|depth|width|heads?|layers?|v|version|px|top)[-_=]?\d{1,18}"
    r"|(?<![a-z0-9])(?!ep?\d{1,18}(?![a-z0-9]))(?=\d{0,39}[a-f])(?=[a-f]{0,39}\d)"
    r"[0-9a-f]{6,40}(?![a-z0-9])",  # a hash
    re.IGNORECASE,
)


@lru_cache(maxsize=16384)
def stem_of(name: str) -> str:
    """A checkpoint's name without its suffixes; the folder's name for ``checkpoint-10/model.safetensors``."""
    first, _, rest = name.partition("/")
    return _SUFFIX.sub("", first if rest else PurePosixPath(name).name)


@lru_cache(maxsize=16384)
def _counting(name: str) -> str:
    """The stem without dates, hashes, metrics and settings, whose numbers count nothing."""
    return _NO_COUNT.sub("", stem_of(name))


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which ``epoch_2`` comes before ``epoch_10``."""
    parts = re.split(r"(\d+)", name.lower())
    return tuple(
        (0, int(part), "") if part.isascii() and part.isdigit() and len(part) < 1000 else (1, 0, part)
        for part in parts
        if part
    )


def step_in(name: str) -> int | None:
    """The step that a name states (``step_100``, ``checkpoint-9``, ``iter_50k``, ``ckpt_e1_s50``)."""
    step = _number(_STEP, _counting(name))
    return step if step is not None else _number(_SHORT_STEP, _counting(name))


def epoch_in(name: str) -> int | None:
    """The epoch that a name states (``epoch=3``, ``ep12``)."""
    return _number(_EPOCH, _counting(name))


def numbers_in(name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The texts of a name around its numbers, and the numbers that may count something."""
    parts = _COUNT.split(_counting(name).lower())
    counts = zip(parts[1::3], parts[2::3], strict=True)
    return tuple(parts[::3]), tuple(int(digits) * _UNITS[unit or ""] for digits, unit in counts)


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.findall(text)
    if not found:
        return None
    digits, unit = found[-1]
    return int(digits) * _UNITS[unit.lower()]


def is_special(name: str) -> bool:
    """Whether the name is one of ``best``, ``last``, ``final``: a copy of some other checkpoint."""
    return bool(_SPECIAL.search(stem_of(name)))


def is_initial(name: str) -> bool:
    """Whether the name says that the file holds the initialisation."""
    return bool(_INIT.search(stem_of(name)))
