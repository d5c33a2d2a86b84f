"""Whether the clip of a TRL trainer's loss holds: past it a token has no gradient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

CLIPPED = ("grpo", "bnpo", "dr_grpo", "dapo")
"""Losses of TRL with the clip of PPO."""


def bounds(trainer: Any) -> tuple[float, float] | None:
    """Return the least and the largest ratio that is not clipped; None where tokens past it may have a gradient.

    A KL term pulls on every token, other losses clip otherwise, and ratios of whole sequences are no token's.
    """
    args = getattr(trainer, "args", None)
    plain = getattr(trainer, "loss_type", "") in CLIPPED and not getattr(trainer, "beta", 0.0)
    low, high = getattr(trainer, "epsilon_low", None), getattr(trainer, "epsilon_high", None)
    if not plain or low is None or high is None or getattr(args, "importance_sampling_level", "token") != "token":
        return None
    return 1 - float(low), 1 + float(high)


@torch.no_grad()
def past_the_clip(
    gradient: Tensor, new: Tensor, inputs: Mapping[str, Any], limits: tuple[float, float]
) -> Tensor | None:
    """Return how many tokens [2] lie past the clip on the side that it holds back, and how many of them are trained.

    By Schulman et al. 2017, arXiv 1707.06347, equation 7, none of them is.

    Args:
        gradient: Derivative of the loss by the log-probability of each token [B, T].
        new: Those log-probabilities [B, T].
        inputs: Holds `old_per_token_logps` and `completion_mask` [B, T], and `advantages` [B].
        limits: What `bounds` gives.
    """
    old, a, mask = (inputs.get(name) for name in ("old_per_token_logps", "advantages", "completion_mask"))
    if not isinstance(old, Tensor) or not isinstance(a, Tensor) or not isinstance(mask, Tensor):
        return None
    if old.shape != new.shape or a.dim() != 1 or gradient.shape != new.shape:
        return None
    ratio, sign = (new.float() - old.float()).exp(), a[:, None].sign()
    past = (((ratio > limits[1]) & (sign > 0)) | ((ratio < limits[0]) & (sign < 0))) & (mask > 0)
    return torch.stack([past.sum(), (past & (gradient != 0)).sum()]).float()
