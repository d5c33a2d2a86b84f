"""What a value head adds to the log, under the canonical names. Values and targets are of valid tokens only, [N]."""

from __future__ import annotations

import torch
from torch import Tensor

from .measures import Numbers, numbers


def value_measures(value: Tensor, target: Tensor) -> Numbers:
    """The values before the update against the targets they are fitted to; what is undefined is left out."""
    measures: dict[str, Tensor | float] = {
        "critic/value_mean": value.mean(),
        "critic/target_mean": target.mean(),
        "critic/target_max": target.max(),
        "critic/target_min": target.min(),
        "critic/value_bias": (value - target).mean(),
        "return/mean": target.mean(),
        "return/std": target.std(correction=0),
    }
    spread = target.var(correction=0)
    if float(spread) > 1e-8:
        measures["critic/explained_variance"] = 1.0 - (target - value).var(correction=0) / spread
        if float(value.var(correction=0)) > 1e-8:
            measures["critic/value_corr"] = torch.corrcoef(torch.stack([value, target]))[0, 1].clamp(-1.0, 1.0)
    return numbers(measures)


def token_advantage_measures(advantage: Tensor) -> Numbers:
    """Advantages [N] as they enter the loss, whitened or not."""
    return numbers(
        {
            "advantage/normalised_mean": advantage.mean(),
            "advantage/normalised_std": advantage.std(correction=0),
            "advantage/normalised_abs_max": advantage.abs().max(),
        }
    )
