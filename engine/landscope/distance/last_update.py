"""The last step of an optimizer, reconstructed from what it keeps: ‖θt − θt−1‖² of one parameter.

The formulas are those of torch's documentation (torch.optim.SGD, Adam, AdamW), with learning rate η, weight
decay λ and t the number of steps taken. ``maximize``, ``foreach``, ``fused`` and ``capturable`` do not change
them: the moments already hold the negated gradient, and the arithmetic is the same.

* SGD with momentum: θt − θt−1 = −η·b, b the momentum buffer (dampening and λ are in it). With nesterov the
  step is η·(g + μ·b), and the gradient g is not kept.
* Adam (Kingma and Ba 2015): θt − θt−1 = −u, u = η/(1 − β1^t) · m / (√v/√(1 − β2^t) + ε); λ is in m and v.
  With amsgrad (Reddi et al. 2018) v is the largest v so far.
* AdamW (Loshchilov and Hutter 2019): θt = (1 − ηλ)·θt−1 − u, so that θt−1 = (θt + u)/(1 − ηλ) and
  θt − θt−1 = −(u + ηλ·θt)/(1 − ηλ).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from landscope.checkpoints.optimizers import Slot
from landscope.distance.norms import BLOCK, widened

_NEUTRAL = frozenset(
    (
        *("maximize", "foreach", "capturable", "differentiable", "fused", "initial_lr", "max_lr", "min_lr"),
        *("base_momentum", "max_momentum", "swa_lr", "lr_scale", "weight_decay"),
    )
)
"""Settings that change nothing here: how a step is computed, what schedulers remember, what moments hold."""
_SGD = frozenset(("lr", "momentum", "dampening", "nesterov"))
_ADAM = frozenset(("lr", "betas", "eps", "amsgrad"))
OTHER = "it is neither SGD, Adam nor AdamW as torch has them ({})"
NO_STATE = "SGD without momentum keeps nothing of its last step"
NESTEROV = "SGD with nesterov steps along the gradient, too, which is not in the file"
DECAY = "the file does not say whether it is Adam or AdamW, and there is weight decay (torch 2.6 or older)"


class UntoldError(Exception):
    """The step cannot be told; ``str()`` is why, one clause."""


@dataclass(frozen=True)
class Rule:
    """How a parameter is stepped.

    Attributes:
        lr: η. betas: None = SGD. eps: ε. second: name of the second moment. decay: λ if it is decoupled.
    """

    lr: float
    betas: tuple[float, float] | None = None
    eps: float = 0.0
    second: str = ""
    decay: float = 0.0

    @property
    def needed(self) -> tuple[str, ...]:
        """What it needs of the state."""
        return ("momentum_buffer",) if self.betas is None else ("step", "exp_avg", self.second)


def rule_of(options: Mapping[str, Any]) -> Rule:
    """The rule of a group with these settings, tensors read.

    Raises:
        UntoldError: it is another optimizer, or its steps cannot be told from what it keeps.
    """
    for own, rule in ((_ADAM, _adam), (_SGD, _sgd)):
        if own <= options.keys():
            odd = [
                name
                for name, value in options.items()
                if name not in own | _NEUTRAL | {"decoupled_weight_decay"} and not isinstance(value, str)
            ]
            if odd:
                raise UntoldError(OTHER.format(f"its setting {odd[0]} is not known"))
            return rule(options)
    raise UntoldError(OTHER.format("its settings are others"))


def _sgd(options: Mapping[str, Any]) -> Rule:
    if options["nesterov"]:
        raise UntoldError(NESTEROV)
    if not _number(options["momentum"], "momentum"):
        raise UntoldError(NO_STATE)
    return Rule(_number(options["lr"], "learning rate"))


def _adam(options: Mapping[str, Any]) -> Rule:
    decay = _number(options.get("weight_decay", 0.0), "weight decay")
    decoupled = options.get("decoupled_weight_decay")
    if decay and decoupled is None:
        raise UntoldError(DECAY)
    both = options["betas"]
    if not isinstance(both, tuple) or len(both) != 2:
        raise UntoldError("its betas are not two numbers")
    first, second = (_number(beta, "beta") for beta in both)
    if not 0.0 <= min(first, second) <= max(first, second) < 1.0:
        raise UntoldError("its betas are not below 1")
    return Rule(
        _number(options["lr"], "learning rate"),
        (first, second),
        _number(options["eps"], "epsilon"),
        "max_exp_avg_sq" if options["amsgrad"] else "exp_avg_sq",
        decay if decoupled else 0.0,
    )


def _number(value: Any, what: str) -> float:
    if isinstance(value, Tensor) and value.numel() == 1 and not value.is_complex():
        value = float(value)
    if isinstance(value, (int, float)) and abs(value) < math.inf:
        return float(value)
    raise UntoldError(f"its {what} is no number")


def check_state(slot: Slot, rule: Rule, shape: tuple[int, ...]) -> None:
    """Make sure that the state has what the rule needs.

    Raises:
        UntoldError: it lacks something, or has something that no such optimizer keeps.
    """
    state = slot.state or {}
    known = {"momentum_buffer"} if rule.betas is None else {"step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
    odd = sorted(state.keys() - known)
    if odd:
        raise UntoldError(OTHER.format(f"it keeps {odd[0]}"))
    for name in rule.needed:
        value = state.get(name)
        if name != "step" and (getattr(value, "shape", None) != shape or getattr(value, "is_integer", True)):
            raise UntoldError(f"its {name} is missing or does not fit the parameter")
        if value is None or value == ():
            raise UntoldError(f"its {name} is missing")


def squared_step(
    rule: Rule, state: Mapping[str, Any], weights: Tensor, check: Callable[[], None] = lambda: None
) -> float:
    """Σ (θt − θt−1)²; NaN where it is not finite.

    Args:
        rule: how the parameter is stepped. state: what it needs, tensors read. weights: θt.
        check: called at every block; what it raises stops the sum.

    Raises:
        UntoldError: the number of steps is none.
    """
    first = state[rule.needed[0] if rule.betas is None else "exp_avg"].reshape(-1)
    second = state[rule.second].reshape(-1) if rule.betas is not None else first
    if rule.lr * rule.decay == 1.0:
        return math.nan  # the step forgot θt−1
    scales = _scales(rule, state)
    total, values = 0.0, weights.reshape(-1)
    for begin in range(0, len(first), BLOCK):
        check()
        block = slice(begin, begin + BLOCK)
        step = _step(rule, scales, widened(first[block]), widened(second[block]))
        if rule.decay:
            kept = rule.lr * rule.decay
            step = (step + kept * widened(values[block])) / (1.0 - kept)
        total += float((step * step).sum())
    return total if math.isfinite(total) else math.nan


def _scales(rule: Rule, state: Mapping[str, Any]) -> tuple[float, float]:
    """η/(1 − β1^t) and √(1 − β2^t); η and 1 for SGD."""
    if rule.betas is None:
        return rule.lr, 1.0
    count = _number(state["step"], "step")
    if count < 1.0:
        raise UntoldError("its count of steps is below 1")
    first, second = (1.0 - beta**count for beta in rule.betas)
    return rule.lr / first, math.sqrt(second)


def _step(rule: Rule, scales: tuple[float, float], first: Tensor, second: Tensor) -> Tensor:
    if rule.betas is None:
        return scales[0] * first
    return scales[0] * first / (torch.sqrt(second) / scales[1] + rule.eps)
