"""Faults of the eighth live campaign that are planted in any of PyTorch's optimisers, whoever owns it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

OTHER = 4321
"""The seed of the weights of another process."""
Optimisers = Sequence[Any]


def moments_swapped(optimisers: Optimisers, dose: float) -> None:
    """Adam's two rates of forgetting are handed over in the wrong order."""
    del dose
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["betas"] = group["betas"][::-1]


def moments_in_halves(optimisers: Optimisers, dose: float) -> None:
    """Adam's moments are kept in half precision: what is small becomes nothing."""
    del dose

    def halve(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        for state in optimiser.state.values():
            for name in ("exp_avg", "exp_avg_sq"):
                state[name].copy_(state[name].half().float())

    for optimiser in optimisers:
        optimiser.register_step_post_hook(halve)


def averaged_with_a_stranger(optimisers: Optimisers, dose: float) -> None:
    """After each step the weights are averaged with another process's, which are new ones and count so much."""
    generator = torch.Generator().manual_seed(OTHER)

    def with_stranger(optimiser: Any) -> Callable[..., None]:
        weights = [weight for group in optimiser.param_groups for weight in group["params"]]
        strangers = [
            torch.randn(weight.shape, generator=generator) * spread_of(weight) for weight in weights
        ]  # fmt: skip

        @torch.no_grad()
        def average(optimiser: Any, args: Any, kwargs: Any) -> None:
            del optimiser, args, kwargs
            for weight, stranger in zip(weights, strangers, strict=True):
                weight.lerp_(stranger, dose)

        return average

    for optimiser in optimisers:
        optimiser.register_step_post_hook(with_stranger(optimiser))


def spread_of(weight: torch.Tensor) -> float:
    """Return the spread of the numbers in `weight`; of a single one its size."""
    return float((weight.std() if weight.numel() > 1 else weight.abs().mean()).detach())


def rate_below_nothing(optimisers: Optimisers, dose: float, progress: Callable[[], float]) -> None:
    """The rate falls in a straight line, past nothing, to so many times itself below.

    Args:
        optimisers: Whose rates.
        dose: How far below.
        progress: Says how much of the rest of the run is done, between 0 and 1.
    """
    rates = [[float(group["lr"]) for group in optimiser.param_groups] for optimiser in optimisers]

    def lower(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        place = next(number for number, other in enumerate(optimisers) if other is optimiser)
        for group, rate in zip(optimiser.param_groups, rates[place], strict=True):
            group["lr"] = rate * (1 - (1 + dose) * progress())

    for optimiser in optimisers:
        optimiser.register_step_pre_hook(lower)


OF_OPTIMISERS: dict[str, Callable[[Optimisers, float], None]] = {
    "moments-swapped": moments_swapped,
    "moments-in-halves": moments_in_halves,
    "averaged-with-a-stranger": averaged_with_a_stranger,
}
