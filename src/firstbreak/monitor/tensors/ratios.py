"""Importance ratios of the actions taken: size, tails, effective sample size, KL estimates, clipping."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .rows import Rows, aligned

TAIL = 0.01
"""The quantiles `policy/ratio_p01` and `policy/ratio_p99` cut off this share at each end."""


@torch.inference_mode()
def importance_ratios(
    log_prob: Tensor,
    old_log_prob: Tensor,
    *,
    clip_range: float | tuple[float, float] | None = None,
    advantages: Tensor | None = None,
    mask: Tensor | None = None,
) -> dict[str, Tensor]:
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
    measures = _sizes(rows, log_ratio, new)
    if clip_range is not None:
        measures |= _clipping(rows, log_ratio, clip_range, signs[0] if signs else None)
    return measures


def _sizes(rows: Rows, log_ratio: Tensor, new: Tensor) -> dict[str, Tensor]:
    low, high = rows.extremes(log_ratio)
    weight = (log_ratio - high).exp()  # the ratio up to a factor, without overflow
    k3 = log_ratio.expm1() - log_ratio
    mean_weight, mean_k3, mean_log, mean_new = rows.mean(torch.stack((weight, k3, log_ratio, new))).unbind()
    away = weight - mean_weight
    variance, square = rows.mean(away * away), mean_weight * mean_weight
    p01, p99 = rows.tails(log_ratio, TAIL)
    ratio_min, ratio_max, ratio_p01, ratio_p99 = torch.stack((low, high, p01, p99)).exp().unbind()
    least, most = rows.extremes(new)
    return {
        "policy/ratio_mean": mean_weight * ratio_max,
        "policy/ratio_min": ratio_min,
        "policy/ratio_max": ratio_max,
        "policy/ratio_p01": ratio_p01,
        "policy/ratio_p99": ratio_p99,
        "policy/ratio_var": variance * ratio_max * ratio_max,
        "policy/ess": square / (square + variance),  # (sum w)^2 / (N sum w^2)
        "policy/kl_old": mean_k3,
        "policy/kl_k1": -mean_log,
        "policy/logprob_mean": mean_new,
        "policy/logprob_min": least,
        "policy/logprob_max": most,
    }


def _clipping(
    rows: Rows, log_ratio: Tensor, clip_range: float | tuple[float, float], signs: Tensor | None
) -> dict[str, Tensor]:
    below, above = clip_range if isinstance(clip_range, tuple) else (clip_range, clip_range)
    low = log_ratio < (math.log1p(-below) if below < 1 else -math.inf)
    high = log_ratio > math.log1p(above)
    sides = [low, high] if signs is None else [low, high, low & (signs < 0), high & (signs > 0)]
    shares = rows.mean(torch.stack(sides)).unbind()
    measures = {
        "policy/clip_fraction": shares[0] + shares[1],
        "policy/clip_fraction_low": shares[0],
        "policy/clip_fraction_high": shares[1],
    }
    if signs is not None:
        measures["policy/clip_binding_low_frac"], measures["policy/clip_binding_high_frac"] = shares[2], shares[3]
    return measures
