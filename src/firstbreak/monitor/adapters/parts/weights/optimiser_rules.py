"""What the optimisers of PyTorch do in one step, recomputed for a few entries from the state that the step left.

Only of optimisers whose formula is known to the letter; a subclass may do otherwise and is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Change = Callable[[Numbers, Mapping[str, Numbers], Mapping[str, Any], float], Numbers]
"""From weights before a step, the state that it left, the settings in force at it and its number, the change."""


def adam(before: Numbers, state: Mapping[str, Numbers], group: Mapping[str, Any], step: float) -> Numbers:
    """Kingma and Ba 2015, arXiv 1412.6980, algorithm 1; with decoupled decay Loshchilov and Hutter, 1711.05101."""
    one, two = group["betas"]
    second = state["max_exp_avg_sq" if group["amsgrad"] else "exp_avg_sq"]
    divisor = np.sqrt(second) / (1 - two**step) ** 0.5 + group["eps"]
    moved = state["exp_avg"] / divisor * (-group["lr"] / (1 - one**step))
    return moved - group["lr"] * group["weight_decay"] * before if group["decoupled_weight_decay"] else moved


def rmsprop(before: Numbers, state: Mapping[str, Numbers], group: Mapping[str, Any], step: float) -> Numbers:
    """Tieleman and Hinton 2012, lecture 6.5, as PyTorch has it: epsilon is added to the root."""
    return _rmsprop(before, state, group, within=False)


def rmsprop_of_tensorflow(
    before: Numbers, state: Mapping[str, Numbers], group: Mapping[str, Any], step: float
) -> Numbers:
    """The same with epsilon under the root, which is how Stable-Baselines3 has it for A2C (`RMSpropTFLike`)."""
    return _rmsprop(before, state, group, within=True)


def sgd(before: Numbers, state: Mapping[str, Numbers], group: Mapping[str, Any], step: float) -> Numbers:
    """Gradient descent without momentum (Robbins and Monro 1951)."""
    return -group["lr"] * _gradient(before, state, group)


def _rmsprop(before: Numbers, state: Mapping[str, Numbers], group: Mapping[str, Any], within: bool) -> Numbers:
    mean = state["square_avg"]
    if group["centered"]:
        mean = mean - state["grad_avg"] ** 2
    root = np.sqrt(mean + group["eps"]) if within else np.sqrt(mean) + group["eps"]
    return -group["lr"] * (_gradient(before, state, group) / root)


def _gradient(before: Numbers, state: Mapping[str, Numbers], group: Mapping[str, Any]) -> Numbers:
    """The gradient that a step was given, turned round and with decay as the optimiser does it."""
    turned = -state["grad"] if group.get("maximize") else state["grad"]
    return turned + group["weight_decay"] * before if group["weight_decay"] else turned


RULES: dict[str, tuple[Change, tuple[str, ...], tuple[str, ...]]] = {
    "torch.optim.adam.Adam": (
        adam, ("exp_avg", "exp_avg_sq"), ("lr", "betas", "eps", "weight_decay", "amsgrad", "decoupled_weight_decay"),
    ),
    "torch.optim.rmsprop.RMSprop": (rmsprop, ("square_avg", "grad"), ("lr", "eps", "weight_decay", "centered")),
    "stable_baselines3.common.sb2_compat.rmsprop_tf_like.RMSpropTFLike": (
        rmsprop_of_tensorflow, ("square_avg", "grad"), ("lr", "eps", "weight_decay", "centered"),
    ),
    "torch.optim.sgd.SGD": (sgd, ("grad",), ("lr", "weight_decay")),
}  # fmt: skip
"""Class of an optimiser -> its rule, what of its state the rule needs, and settings without which it is not that."""
RULES["torch.optim.adamw.AdamW"] = RULES["torch.optim.adam.Adam"]


def rule_of(optimiser: Any) -> tuple[Change, tuple[str, ...]] | None:
    """Return the rule of an optimiser and what it needs of the state; None where it is not known to the letter."""
    kind = cast("type[object]", type(optimiser))
    found = RULES.get(f"{kind.__module__}.{kind.__qualname__}")
    groups = cast("list[dict[str, Any]]", getattr(optimiser, "param_groups", []))
    if found is None or any(name not in group for group in groups for name in found[2]):
        return None
    if any(group.get("momentum") for group in groups):
        return None  # a buffer that begins in several ways, and that few trainers use
    change, needed, _ = found
    more = {"max_exp_avg_sq"} if any(group.get("amsgrad") for group in groups) else set[str]()
    more |= {"grad_avg"} if any(group.get("centered") for group in groups) else set()
    return change, (*needed, *sorted(more))
