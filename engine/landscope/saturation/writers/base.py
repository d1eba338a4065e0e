"""What every writer offers the tracker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any


class AbstractWriter(ABC):
    """Takes named values epoch by epoch. Subclass it for a destination of your own.

    Only ``add_scalar``, ``save`` and ``close`` have to be written.
    """

    def resume_from_saved_state(self, initial_epoch: int) -> None:  # noqa: B027  most have nothing to go on from
        """Go on at ``initial_epoch``: what was stored for the epochs before stays."""

    @abstractmethod
    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:
        """Take one value of a series.

        Args:
            name: of the series, such as ``train-saturation_fc1``.
            value: a number, or an array for spectra, covariances and embeddings.
            kwargs: ``epoch``: the epoch it belongs to, where the caller knows; ``dimension``: features of the
                layer, beside a spectrum that is shorter.
        """

    def add_scalars(
        self,
        prefix: str,
        value_dict: Mapping[str, Any],
        sample_value_dict: Mapping[str, Any] | None = None,
        sep: str = "_",
        **kwargs: Any,
    ) -> None:
        """Take several values: each is the series ``prefix + sep + key``, or ``key`` without a prefix.

        A tracker hands over all values of a layer at once.

        Args:
            prefix, sep: see above.
            value_dict: numbers and arrays. sample_value_dict: embedded samples and their labels.
            kwargs: as of ``add_scalar``.
        """
        for key, value in {**value_dict, **(sample_value_dict or {})}.items():
            self.add_scalar(prefix + sep + key if prefix else key, value, **kwargs)

    def add_flags(self, mode: str, layer: str, flags: Sequence[str]) -> None:  # noqa: B027  most show none
        """Take what keeps the values of a layer, which come next, from being trusted.

        Args:
            mode: ``train`` or ``eval``. layer: its name.
            flags: of ``dead too_few_samples nonfinite sampled``; empty when all is well.
        """

    @abstractmethod
    def save(self) -> None:
        """Store what was taken so far; called at the end of every epoch."""

    @abstractmethod
    def close(self) -> None:
        """Nothing more will come."""
