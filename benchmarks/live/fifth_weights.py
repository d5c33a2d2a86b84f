"""What is done to optimisers in the fifth live campaign, whichever trainer they belong to."""

from __future__ import annotations

from typing import Any

import torch
from fifth_doses import Dose

DROPPED = 22
"""Bits of a float32's mantissa that are cut off in the end: one is left."""


@torch.no_grad()
def cut_off(weight: torch.Tensor, bits: int) -> None:
    """Round `weight` towards zero, in place, by cutting off the last `bits` of its mantissa."""
    weight.view(torch.int32).bitwise_and_(-(1 << bits))


def truncated(optimiser: Any, dose: Dose) -> None:
    """Keep the weights of `optimiser` in an ever shorter format, rounded towards zero after every one of its steps."""

    def after(stepped: Any, *_: Any) -> None:
        for group in stepped.param_groups:
            for weight in group["params"]:
                cut_off(weight.data, round(DROPPED * dose()))

    optimiser.register_step_post_hook(after)


def warming(optimiser: Any, growth: float, dose: Dose) -> None:
    """Let the learning rate of every group grow to `growth` times what it is now."""
    usual = [group["lr"] for group in optimiser.param_groups]

    def before(stepped: Any, *_: Any) -> None:
        for group, rate in zip(stepped.param_groups, usual, strict=True):
            group["lr"] = rate * (1 + (growth - 1) * dose())

    optimiser.register_step_pre_hook(before)
