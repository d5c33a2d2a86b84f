"""The settings in force at a row: those at the start do not say what a schedule, or a mistake, made of them since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from .weights.gradients import total_norm
from .weights.sampled_weights import decay as decay_share

RATES = {
    "": "optim/lr", "policy": "optim/lr", "actor": "optim/lr", "critic": "optim/critic_lr", "alpha": "optim/alpha_lr",
}  # fmt: skip
"""What an optimiser trains -> the metric of its learning rate."""
DISCOUNT, TRACE_DECAY = "critic/discount", "critic/gae_lambda"
OUTWEIGHS = "optim/decay_over_gradient"


def rates(optimisers: Mapping[str, torch.optim.Optimizer]) -> dict[str, float]:
    """Return the learning rate of each optimiser's first group; one of another name stands for the policy if alone.

    A rate that lies on a graphics card (a capturable optimiser) is left out: reading it would make the loop wait.
    """
    names = {name: RATES.get(name, "optim/lr" if len(optimisers) == 1 else "") for name in optimisers}
    found = {names[name]: plain(one.param_groups[0]["lr"]) for name, one in optimisers.items() if names[name]}
    return {name: rate for name, rate in found.items() if rate is not None}


def decay(optimiser: torch.optim.Optimizer, norm: float | None) -> dict[str, float]:
    """Return what weight decay does at a step: the share that it takes, or its pull where it is added to the gradient.

    Args:
        optimiser: The largest decay of its groups counts.
        norm: Of the gradient without it; None where it is not known.
    """
    shares = decay_share(optimiser)
    if shares:
        return shares
    decays = [plain(group.get("weight_decay")) or 0.0 for group in optimiser.param_groups]
    most = max(decays, default=0.0)
    if not most:
        return {OUTWEIGHS: 0.0}
    weights = [weight.detach() for weight in optimiser.param_groups[decays.index(most)]["params"]]
    return {OUTWEIGHS: most * float(total_norm(weights)) / norm} if norm else {}


def rate_of(
    optimisers: Iterable[torch.optim.Optimizer], weights: Iterable[Tensor], *, apart_from: Iterable[Tensor] = ()
) -> float | None:
    """Return the rate of the group that holds `weights` and none of `apart_from`; None where there is none."""
    held, apart = {id(weight) for weight in weights}, {id(weight) for weight in apart_from}
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            here = {id(weight) for weight in group["params"]}
            if here & held and not here & apart:
                return plain(group["lr"])
    return None


def plain(value: Any) -> float | None:
    """Return a setting as a number where it is one that the host knows; None otherwise."""
    if isinstance(value, Tensor):
        return float(value) if value.numel() == 1 and value.device.type == "cpu" else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
