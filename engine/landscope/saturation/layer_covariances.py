"""The covariances of all layers of a model, filled while it runs."""

from __future__ import annotations

from torch import Tensor

from landscope.contract.deltas import LayerSaturation, NotObserved
from landscope.contract.intrinsic import IdimRule
from landscope.layers.kinds import Layer
from landscope.saturation.covariance import Covariance
from landscope.saturation.embedding import LayerRows
from landscope.saturation.statistics import layer_saturation


class LayerCovariances:
    """One covariance per layer call, in forward order. Its ``take`` is what an ``Observer`` hands samples to.

    A layer whose number of features changes from batch to batch has no covariance; it is dropped and told.
    """

    def __init__(self, row_share: float = 1.0) -> None:
        self._row_share = row_share
        self._found: dict[str, tuple[Layer, Covariance]] = {}
        self._dropped: dict[str, str] = {}

    def take(self, name: str, layer: Layer, samples: Tensor) -> None:
        """Take in the samples (…, D) of one call; they are consumed before this returns."""
        if name in self._dropped:
            return
        size = samples.shape[-1]
        if name not in self._found:
            self._found[name] = (layer, Covariance(size, row_share=self._row_share))
        covariance = self._found[name][1]
        if covariance.dimension != size:
            del self._found[name]
            self._dropped[name] = (
                f"Its number of features changes between batches ({covariance.dimension} and {size}); "
                "a conv_method other than flatten keeps it fixed."
            )
            return
        covariance.add(samples)

    def statistics(
        self, threshold: float, rule: IdimRule, rows: LayerRows | None = None
    ) -> tuple[LayerSaturation, ...]:
        """The statistics of every layer so far, in forward order; ``rows``: those to place, None = none."""
        return tuple(
            layer_saturation(
                name, layer.kind, covariance, threshold, rule, None if rows is None else rows.of(name)
            )
            for name, (layer, covariance) in self._found.items()
        )

    def dropped(self) -> tuple[NotObserved, ...]:
        """Layers without a covariance, with the reason."""
        return tuple(NotObserved(layer=name, reason=reason) for name, reason in self._dropped.items())
