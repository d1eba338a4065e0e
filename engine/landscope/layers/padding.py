"""Which steps of padded sequences are real, learnt from what the model itself is told about its padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils.hooks import RemovableHandle

_MASKS: tuple[tuple[type[nn.Module], str, int], ...] = (
    (nn.TransformerEncoder, "src_key_padding_mask", 2),
    (nn.TransformerEncoderLayer, "src_key_padding_mask", 2),
    (nn.TransformerDecoder, "tgt_key_padding_mask", 4),
    (nn.TransformerDecoderLayer, "tgt_key_padding_mask", 4),
    (nn.MultiheadAttention, "key_padding_mask", 3),
)
"""Modules that are told about padding, the argument's name and its position."""


class RealSteps:
    """The masks of real steps seen in this batch: padding indices, key padding masks, packed sequences.

    A plain padded sequence given to a recurrent layer carries no such knowledge unless an embedding with
    ``padding_idx`` made it.
    """

    def __init__(self) -> None:
        self._seen: list[Tensor] = []

    def attach(
        self, model: nn.Module, wrap: Callable[[Callable[..., None]], Callable[..., None]] = lambda hook: hook
    ) -> list[RemovableHandle]:
        """Watch all modules that know about padding; the caller removes the handles.

        ``wrap`` makes what is registered of each hook.
        """
        handles = []
        for module in model.modules():
            if isinstance(module, nn.Embedding) and module.padding_idx is not None:
                handles.append(module.register_forward_pre_hook(wrap(self._from_embedding)))
            if isinstance(module, nn.RNNBase):
                handles.append(module.register_forward_pre_hook(wrap(self._from_packed), with_kwargs=True))
            if any(isinstance(module, kind) for kind, _, _ in _MASKS):
                handles.append(module.register_forward_pre_hook(wrap(self._from_mask), with_kwargs=True))
        return handles

    def forget(self) -> None:
        """Start a new batch."""
        self._seen.clear()

    def of(self, sequence: Tensor) -> Tensor | None:
        """(B, T) bool, the real steps of a (B, T, F) sequence by the latest mask that fits; None = all."""
        for real in reversed(self._seen):
            if real.shape == sequence.shape[:2]:
                return real.to(sequence.device)
        return None

    def batch_first(self, sequence: Tensor) -> bool | None:
        """Whether (B, T, F) rather than (T, B, F) fits a mask seen in this batch; None = cannot tell."""
        for real in reversed(self._seen):
            if real.shape == sequence.shape[:2]:
                return True if real.shape[0] != real.shape[1] else None
            if real.shape == sequence.shape[:2][::-1]:
                return False
        return None

    def _from_embedding(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        ids = args[0] if args else None
        if isinstance(ids, Tensor) and ids.dim() == 2:
            self._seen.append(ids.ne(cast(int, module.padding_idx)))

    def _from_packed(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:  # noqa: ARG002
        given = args[0] if args else kwargs.get("input")
        if isinstance(given, PackedSequence):
            sizes = given.batch_sizes
            longest_first = torch.arange(int(sizes[0]), device=sizes.device)[:, None] < sizes
            order = given.unsorted_indices
            self._seen.append(longest_first if order is None else longest_first[order.cpu()])

    def _from_mask(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if isinstance(module, nn.MultiheadAttention) and not _attends_to_itself(args, kwargs):
            return  # the mask tells about another sequence than the output
        for kind, name, position in _MASKS:
            if isinstance(module, kind):
                mask = kwargs.get(name, args[position] if len(args) > position else None)
                if isinstance(mask, Tensor) and mask.dim() == 2:
                    self._seen.append(~mask if not mask.is_floating_point() else mask == 0)


def _attends_to_itself(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    query = args[0] if args else kwargs.get("query")
    key = args[1] if len(args) > 1 else kwargs.get("key")
    return query is key
