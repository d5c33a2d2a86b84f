"""The settings in force at a row: those at the start do not say what a schedule, or a mistake, made of them since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

RATES = {
    "": "optim/lr", "policy": "optim/lr", "actor": "optim/lr", "critic": "optim/critic_lr", "alpha": "optim/alpha_lr",
}  # fmt: skip
"""What an optimiser trains -> the metric of its learning rate."""
DISCOUNT = "critic/discount"


def rates(optimisers: Mapping[str, torch.optim.Optimizer]) -> dict[str, float]:
    """Return the learning rate of each optimiser's first group; one of another name stands for the policy if alone.

    A rate that lies on a graphics card (a capturable optimiser) is left out: reading it would make the loop wait.
    """
    names = {name: RATES.get(name, "optim/lr" if len(optimisers) == 1 else "") for name in optimisers}
    found = {names[name]: plain(one.param_groups[0]["lr"]) for name, one in optimisers.items() if names[name]}
    return {name: rate for name, rate in found.items() if rate is not None}


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
