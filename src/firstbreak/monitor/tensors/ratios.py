"""Importance ratios of the actions taken: size, tails, effective sample size, KL estimates, clipping."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .reduced import Reduced, averages, quotient
from .rows import Rows, aligned

TAIL = 0.01
"""The quantiles `policy/ratio_p01` and `policy/ratio_p99` cut off this share at each end."""
SIZES = (
    "policy/ratio_mean",
    "policy/ratio_min",
    "policy/ratio_max",
    "policy/ratio_p01",
    "policy/ratio_p99",
    "policy/ratio_var",
    "policy/ess",
    "policy/kl_old",
    "policy/kl_k1",
    "policy/logprob_mean",
    "policy/logprob_min",
    "policy/logprob_max",
)
CLIPPING = ("policy/clip_fraction", "policy/clip_fraction_low", "policy/clip_fraction_high")
BINDING = ("policy/clip_binding_low_frac", "policy/clip_binding_high_frac")


def importance_ratios(
    log_prob: Tensor,
    old_log_prob: Tensor,
    *,
    clip_range: float | tuple[float, float] | None = None,
    advantages: Tensor | None = None,
    mask: Tensor | None = None,
) -> Reduced:
    """Ratios exp(log_prob - old_log_prob) of actions that the old policy drew, and what follows from them.

    KL(old || new) by k1 = -log r and k3 = r - 1 - log r (http://joschu.net/blog/kl-approx.html); effective sample size
    over the sample size (Kong 1992). With a clip range: the share of ratios outside, by side. With advantages as well:
    the share that clipping takes out of the gradient (A > 0 and r > 1 + high, A < 0 and r < 1 - low), by side.

    Args:
        log_prob: Under the current policy; [B], or [B, T] of tokens.
        old_log_prob: Under the policy that acted.
        clip_range: Epsilon, or (low, high) where the sides differ.
        advantages: As used in the loss; their sign matters.
        mask: Which elements count.
    """
    rows, (new, old, *signs) = aligned(mask, log_prob=log_prob, old_log_prob=old_log_prob, advantages=advantages)
    log_ratio = new - old
    parts = _sizes(rows, log_ratio, new)
    if clip_range is None:
        return rows.reduced(SIZES, _finish, *parts)
    clipped = _clipping(rows, log_ratio, clip_range, signs[0] if signs else None)
    return rows.reduced(SIZES + CLIPPING + (BINDING if signs else ()), _finish, *parts, clipped)


def _sizes(rows: Rows, log_ratio: Tensor, new: Tensor) -> tuple[Tensor, ...]:
    """What `_finish` takes, but for how many are clipped."""
    low, high = rows.extremes(log_ratio)
    weight = (log_ratio - high).exp()  # the ratio up to a factor, without overflow
    k3 = log_ratio.expm1() - log_ratio
    away = weight - rows.mean(weight)
    totals = rows.total(torch.stack((weight, k3, log_ratio, new, away * away)))
    edges = torch.stack((low, high, *rows.tails(log_ratio, TAIL))).exp()  # here, since float32's infinity shows
    return totals, edges, *rows.extremes(new)


def _finish(number: Any, totals: Any, edges: Any, least: Any, most: Any, clipped: Any = None) -> tuple[Any, ...]:
    (weight, k3, log_ratio, new, variance), (low, high, p01, p99) = averages(totals, number), edges
    square = weight * weight
    ess = quotient(square, square + variance)  # (sum w)^2 / (N sum w^2)
    sizes = weight * high, low, high, p01, p99, variance * high * high, ess, k3, -log_ratio, new, least, most
    if clipped is None:
        return sizes
    below, above, *binding = averages(clipped, number)
    return *sizes, below + above, below, above, *binding


def _clipping(rows: Rows, log_ratio: Tensor, clip_range: float | tuple[float, float], signs: Tensor | None) -> Tensor:
    """How many lie below and above the range, and how many of them clipping takes out of the gradient: [2] or [4]."""
    below, above = clip_range if isinstance(clip_range, tuple) else (clip_range, clip_range)
    low = log_ratio < (math.log1p(-below) if below < 1 else -math.inf)
    high = log_ratio > math.log1p(above)
    sides = [low, high] if signs is None else [low, high, low & (signs < 0), high & (signs > 0)]
    return rows.total(torch.stack(sides))
