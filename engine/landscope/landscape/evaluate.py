"""What is measured at one point: loss and metrics of the model as it stands, under a BatchNorm policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from landscope.contract.errors import OptionError
from landscope.contract.job import CancelToken
from landscope.contract.options import BatchNormPolicy, Setting
from landscope.landscape.batching import plan_batches
from landscope.landscape.batchnorm import BATCH, Recalibration, batchnorm_modules
from landscope.project.measuring.measure import Measurement, measure

if TYPE_CHECKING:
    from landscope.project.subject import Subject

Values = dict[str, float]
NONE_NEEDED = "none needed"
"""The policy of a model without running statistics."""


class PointMeter:
    """Measures points of a line or plane on one split.

    The statistics in the model when this object is made are the stored ones.

    Attributes:
        policy: ``frozen``, ``recalibrated`` or ``none needed``.
    """

    def __init__(
        self,
        subject: Subject,
        split: str,
        asked: BatchNormPolicy,
        automatic: BatchNormPolicy,
        token: CancelToken,
    ) -> None:
        if split not in subject.data.splits:
            known = ", ".join(subject.data.splits)
            raise OptionError(f'The data has no split called "{split}"; there is {known}.')
        self._subject, self._split, self._token = subject, split, token
        self.policy = _resolved(subject, asked, automatic)
        self._plan = plan_batches(subject, split, token)
        self._recalibration: Recalibration | None = None
        if self.policy == "recalibrated":
            source = "train" if "train" in subject.data.splits else split
            batches = subject.data.batches(source)
            self._recalibration = Recalibration(subject.model, batches, subject.loss, token)

    def measure(self) -> Values:
        """``loss``, ``loss_se`` and every metric of the script at the present weights.

        Raises:
            JobCancelled: between two batches.
        """
        if self._recalibration is not None:
            self._recalibration.recalibrate()
        return _values(self._measured())

    def measure_stored(self) -> Values:
        """``loss_stored``: the loss under the stored statistics; empty where the policy uses those anyway."""
        if self._recalibration is None:
            return {}
        self._recalibration.use_stored()
        return {"loss_stored": self._measured().loss}

    def own_loss(self, checkpoint: str) -> float:
        """The loss of a checkpoint with its own weights and statistics; the model is then wherever it was
        loaded to, so the caller puts it back.
        """
        self._subject.load(checkpoint)
        return self._measured().loss

    def _measured(self) -> Measurement:
        batches = self._plan.batches
        return measure(self._subject, self._split, self._token, batches=batches)

    def settings(self) -> dict[str, Setting]:
        """The choices that stand behind every value."""
        found: dict[str, Setting] = {
            "split": self._split,
            "samples": self._subject.data.samples(self._split),
            "batchnorm": self.policy,
            "device": str(self._subject.device),
            "batch": self._plan.size,
            "batch_choice": self._plan.reason,
        }
        if self._recalibration is not None:
            found["calibration_samples"] = self._recalibration.samples
            found["calibration_batch"] = BATCH if self._recalibration.cut else "as the data gives them"
        return found


def _resolved(subject: Subject, asked: BatchNormPolicy, automatic: BatchNormPolicy) -> str:
    if not batchnorm_modules(subject.model):
        return NONE_NEEDED
    return automatic if asked == "auto" else asked


def _values(measured: Measurement) -> Values:
    return {"loss": measured.loss, "loss_se": measured.loss_se, **measured.metrics}
