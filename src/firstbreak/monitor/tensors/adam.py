"""What the state of Adam says of the steps it takes: its second moment, and where epsilon outweighs it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

SAMPLED = 4096
"""Elements looked at in each weight, evenly spaced: the figures are means over all weights, and few are enough."""


@torch.no_grad()
def adam_moments(optimiser: Any) -> dict[str, Tensor]:
    """Mean second moment of the gradient, and the share of weights whose step epsilon decides; between two steps.

    Adam divides by sqrt(v / (1 - beta2^t)) + epsilon (Kingma and Ba 2015, arXiv 1412.6980, algorithm 1). Weights that
    never got a gradient are left out of the share. Nothing is returned for optimisers without `exp_avg_sq` in their
    state (other algorithms, 8-bit states) and before the first step.

    Args:
        optimiser: A `torch.optim.Optimizer` of the Adam family, or a wrapper with its `param_groups` and `state`.
    """
    total, dominated, alive, count = None, None, None, 0
    for second, epsilon, correction in _states(optimiser):
        moved = second > 0
        below = moved & (second < epsilon * epsilon * correction)
        parts = second.sum(), below.sum().float(), moved.sum().float()
        home = parts[0].device if total is None else total.device
        one, two, three = (part.to(home) for part in parts)
        total = one if total is None else total + one
        dominated = two if dominated is None else dominated + two
        alive = three if alive is None else alive + three
        count += second.numel()
    if total is None or dominated is None or alive is None:
        return {}
    return {"optim/second_moment": total / count, "optim/epsilon_dominated_frac": dominated / alive.clamp_min(1.0)}


def _states(optimiser: Any) -> Iterator[tuple[Tensor, float, Any]]:
    """Second moments [n] of each weight in float32, with epsilon and the correction of their bias."""
    known: Any = getattr(optimiser, "state", {})
    for group in optimiser.param_groups:
        if not isinstance(group.get("eps", 1e-8), int | float):
            continue  # Adafactor keeps second moments as well, and two epsilons that bound other things
        beta2 = float(group.get("betas", (0.9, 0.999))[1])
        for weight in group.get("params", ()):
            state: dict[str, Any] = known.get(weight) or {}
            second = state.get("exp_avg_sq")
            if not isinstance(second, Tensor) or not second.numel():
                continue
            flat = second.reshape(-1)[:: max(1, math.ceil(second.numel() / SAMPLED))].float()
            yield flat, float(group.get("eps", 1e-8)), _correction(state.get("step"), beta2)


def _correction(step: Any, beta2: float) -> Any:
    """1 - beta2^t, on the device of the count of steps."""
    return 1.0 if step is None else 1.0 - beta2**step
