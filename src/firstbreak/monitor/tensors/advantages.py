"""Statistics of advantages, before and after they are normalised."""

from __future__ import annotations

import torch
from torch import Tensor

from .rows import Rows, aligned

TOP_SHARE = 0.01
"""Whose part in the sum of |A| `advantage/top1_share` tells."""


@torch.inference_mode()
def advantages(raw: Tensor, normalised: Tensor | None = None, mask: Tensor | None = None) -> dict[str, Tensor]:
    """Raw advantages, and the normalised ones that the loss uses when given.

    Kurtosis is 3 for a normal distribution, NaN where nothing varies. `advantage/top1_share` is the part of the sum of
    |A| that the largest 1 % hold: near 1 when a few samples set the direction.
    """
    rows, both = aligned(mask, raw=raw, normalised=normalised)
    measures = _raw(rows, both[0])
    if normalised is not None:
        mean, std = rows.spread(both[1])
        low, high = rows.extremes(both[1])
        measures |= {
            "advantage/normalised_mean": mean,
            "advantage/normalised_std": std,
            "advantage/normalised_abs_max": torch.maximum(-low, high),
        }
    return measures


@torch.inference_mode()
def return_correlation(raw: Tensor, target: Tensor, value: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
    """Correlation of raw advantages with value targets minus values, NaN where either is constant.

    1 by construction with generalised advantage estimation (Schulman et al. 2016, arXiv 1506.02438, section 3).
    """
    rows, (a, t, v) = aligned(mask, raw=raw, target=target, value=value)
    error = t - v
    _, first = rows.centred(a)
    _, second = rows.centred(error)
    both, one, other = rows.mean(torch.stack((first * second, first * first, second * second))).unbind()
    return {"advantage/return_corr": both / (one * other).sqrt()}


def _raw(rows: Rows, a: Tensor) -> dict[str, Tensor]:
    size = a.abs()
    mean, rest = rows.centred(a)
    square = rest * rest
    abs_mean, variance, fourth = rows.mean(torch.stack((size, square, square * square))).unbind()
    positive, zero = rows.mean(torch.stack((a > 0, a == 0))).unbind()
    low, high = rows.extremes(a)
    return {
        "advantage/mean": mean,
        "advantage/std": variance.sqrt(),
        "advantage/min": low,
        "advantage/max": high,
        "advantage/abs_max": torch.maximum(-low, high),
        "advantage/abs_mean": abs_mean,
        "advantage/positive_frac": positive,
        "advantage/zero_frac": zero,
        "advantage/kurtosis": fourth / (variance * variance),
        "advantage/top1_share": rows.top_sum(size, TOP_SHARE) / (abs_mean * rows.number),
    }
