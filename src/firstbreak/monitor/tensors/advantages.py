"""Statistics of advantages, before and after they are normalised."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .reduced import Reduced, averages, larger, quotient, root, unless
from .rows import aligned

TOP_SHARE = 0.01
"""Whose part in the sum of |A| `advantage/top1_share` tells."""
LEAST_ADVANTAGE = 1e-3
"""Share of the values that advantages are taken to be of at least: single precision keeps them to 1e-7. Engineering
choice."""
RAW = (
    "advantage/mean",
    "advantage/std",
    "advantage/min",
    "advantage/max",
    "advantage/abs_max",
    "advantage/abs_mean",
    "advantage/positive_frac",
    "advantage/zero_frac",
    "advantage/kurtosis",
    "advantage/top1_share",
)
NORMALISED = ("advantage/normalised_mean", "advantage/normalised_std", "advantage/normalised_abs_max")


def advantages(raw: Tensor, normalised: Tensor | None = None, mask: Tensor | None = None) -> Reduced:
    """Raw advantages, and the normalised ones that the loss uses when given.

    Kurtosis is 3 for a normal distribution, NaN where nothing varies. `advantage/top1_share` is the part of the sum of
    |A| that the largest 1 % hold: near 1 when a few samples set the direction.
    """
    rows, both = aligned(mask, raw=raw, normalised=normalised)
    a = both[0]
    mean, rest = rows.centred(a)
    size, square = a.abs(), rest * rest
    powers = rows.total(torch.stack((size, square, square * square)))
    signs = rows.total(torch.stack((a > 0, a == 0)))
    parts = mean, powers, signs, *rows.extremes(a), rows.top_sum(size, TOP_SHARE)
    if normalised is None:
        return rows.reduced(RAW, _finish, *parts)
    centre, away = rows.centred(both[1])
    parts = *parts, centre, rows.total(away * away), *rows.extremes(both[1])
    return rows.reduced(RAW + NORMALISED, _finish, *parts)


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


@torch.inference_mode()
def gae_residual(
    raw: Tensor, reward: Tensor, value: Tensor, follows: Tensor, *, discount: float, decay: float
) -> dict[str, Tensor]:
    """How far stored advantages are from what follows from the rewards and values stored beside them.

    A_t = r_t + gamma c_t V_{t+1} - V_t + gamma lambda c_t A_{t+1} holds step by step whatever comes after the rollout
    (Schulman et al. 2016, arXiv 1506.02438, equations 11 and 16), so that the last step is not needed. The root mean
    square of what is missing over that of the advantages: rounding where they are right. Where a critic foresees all,
    advantages are rounding themselves: they count as a thousandth of the values at least.

    Args:
        raw: Advantages as stored, before they are normalised [T, N].
        reward: Of each step [T, N].
        value: Of the observation before each step [T, N].
        follows: 1 where the next row goes on with the same episode, 0 where it begins one [T - 1, N].
        discount: Gamma.
        decay: Lambda.
    """
    raw, reward, value, follows = raw.float(), reward.float(), value.float(), follows.float()
    later = torch.add(value[1:], raw[1:], alpha=decay)
    missing = torch.addcmul(reward[:-1], follows, later, value=discount).sub_(value[:-1]).sub_(raw[:-1])
    size = _rms(raw) + LEAST_ADVANTAGE * _rms(value)
    return {"advantage/gae_residual": _rms(missing) / size}


@torch.inference_mode()
def follow(used: Tensor, before: Tensor, now: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
    """Whether an update made those actions likelier that turned out better: a cosine, NaN where either is 0 throughout.

    What a policy gradient raises is, to first order, the sum of advantage times change of log-probability over its
    batch. So neither is centred here: advantages that are all below 0 make all of the batch less likely, and rightly.

    Args:
        used: Advantages as the loss takes them [B]: normalised where it normalises them.
        before: Log-probabilities of the actions under the policy that acted [B].
        now: The same after the update [B].
        mask: Which rows count.
    """
    rows, (a, then, here) = aligned(mask, used=used, before=before, now=now)
    change = here - then
    both, one, other = rows.mean(torch.stack((a * change, a * a, change * change))).unbind()
    return {"policy/advantage_follow": both / (one * other).sqrt()}


def _rms(x: Tensor) -> Tensor:
    """Root mean square, in few calls: each costs more than the numbers do."""
    flat = x.reshape(-1)
    return (torch.dot(flat, flat) / max(flat.numel(), 1)).sqrt()


def _finish(
    number: Any, mean: Any, powers: Any, signs: Any, low: Any, high: Any, top: Any, *normalised: Any
) -> tuple[Any, ...]:
    size, _, _ = powers
    (abs_mean, variance, fourth), (positive, zero) = averages(powers, number), averages(signs, number)
    # A fourth power that float32 rounds to 0 says nothing of the tails.
    kurtosis = unless(fourth == 0, quotient(fourth, variance * variance))
    share = quotient(top, size)
    raw = mean, root(variance), low, high, larger(-low, high), abs_mean, positive, zero, kurtosis, share
    if not normalised:
        return raw
    centre, square, least, most = normalised
    return *raw, centre, root(quotient(square, number)), larger(-least, most)
