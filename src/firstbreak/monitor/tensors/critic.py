"""How good the critic is: its values against returns, its twins against each other, Q against what is possible."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ...errors import InputError
from .reduced import Finish, Reduced, averages, quotient, root, unless
from .rows import Rows, aligned


def value_fit(values: Tensor, returns: Tensor, mask: Tensor | None = None) -> Reduced:
    """Values against the returns they predict, all of one shape: explained variance and what it does not see.

    Explained variance 1 - Var(G - V) / Var(G) is blind to a constant error, so the bias mean(V - G) stands beside it;
    the slope is that of the regression of G on V (1 when calibrated; Mincer and Zarnowitz 1969), next to the
    correlation. Where returns do not vary, all but the bias are undefined: NaN.
    """
    rows, (v, g) = aligned(mask, values=values, returns=returns)
    return rows.reduced(FIT, _value_fit(v.dtype), *_moments(rows, v, g))


def q_against_returns(q: Tensor, returns: Tensor, mask: Tensor | None = None) -> Reduced:
    """Q of the actions taken against their Monte-Carlo returns: overestimation (Fujimoto et al. 2018, 1802.09477).

    `critic/q_bias_scaled` is the bias in standard deviations of the returns, NaN where they do not vary.
    """
    rows, (v, g) = aligned(mask, q=q, returns=returns)
    return rows.reduced(BIAS, _q_bias(v.dtype), *_moments(rows, v, g))


FIT = (
    "critic/explained_variance",
    "critic/value_mean",
    "critic/value_bias",
    "critic/value_slope",
    "critic/value_corr",
    "return/mean",
    "return/std",
)
BIAS = ("critic/q_bias", "critic/q_bias_scaled", "critic/q_slope", "critic/q_corr")


def _moments(rows: Rows, v: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Means [3] of v [N], g [N] and v - g, their sums of squares about it [3], and that of products of the first two.

    Two passes, as sums of squares lose float32's digits when the mean is large.
    """
    means, rest = rows.centred(torch.stack((v, g, v - g)))
    away_v, away_g, _ = rest.unbind()
    return means, rows.total(rest * rest), rows.total(away_v * away_g)


def _spread(means: Any, variances: Any, kind: torch.dtype) -> tuple[Any, Any]:
    """The variances of v and g; a spread within rounding of the values themselves is none. NaN stays NaN."""
    slack = 8 * torch.finfo(kind).eps
    (mean_v, mean_g, _), (var_v, var_g, _) = means, variances
    bound_v, bound_g = mean_v * slack, mean_g * slack
    return unless(var_v <= bound_v * bound_v, var_v), unless(var_g <= bound_g * bound_g, var_g)


def _value_fit(kind: torch.dtype) -> Finish:
    def finish(number: Any, means: Any, squares: Any, product: Any) -> tuple[Any, ...]:
        variances, cov = averages(squares, number), quotient(product, number)
        var_v, var_g = _spread(means, variances, kind)
        (mean_v, mean_g, bias), (_, raw_g, var_gap) = means, variances
        explained = quotient(var_g - var_gap, var_g)
        corr = quotient(cov, root(var_v * var_g))
        return explained, mean_v, bias, quotient(cov, var_v), corr, mean_g, root(raw_g)

    return finish


def _q_bias(kind: torch.dtype) -> Finish:
    def finish(number: Any, means: Any, squares: Any, product: Any) -> tuple[Any, ...]:
        variances, cov = averages(squares, number), quotient(product, number)
        var_v, var_g = _spread(means, variances, kind)
        _, _, bias = means
        return bias, quotient(bias, root(var_g)), quotient(cov, var_v), quotient(cov, root(var_v * var_g))

    return finish


@torch.inference_mode()
def twin_q(first: Tensor, second: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
    """Two critics on the same pairs: their gap |Q1 - Q2| sample by sample, since means hide errors of opposite sign.

    `critic/twin_gap_scaled` is the mean gap in standard deviations of the first; exactly 0 means one network twice, so
    that the smaller of both is no bound (Fujimoto et al. 2018, arXiv 1802.09477). The rest is in units of the return.
    """
    rows, (one, two) = aligned(mask, first=first, second=second)
    gap = (one - two).abs()
    mean_one, mean_two, mean_gap = rows.mean(torch.stack((one, two, gap))).unbind()
    (low_one, high_one), (low_two, high_two) = rows.extremes(one), rows.extremes(two)
    _, std = rows.spread(one)
    return {
        "critic/q_mean": mean_one,
        "critic/q2_mean": mean_two,
        "critic/q_max": torch.maximum(high_one, high_two),
        "critic/q_min": torch.minimum(low_one, low_two),
        "critic/twin_gap": mean_gap,
        "critic/twin_gap_scaled": mean_gap / torch.where(std == 0, math.nan, std),
    }


@torch.inference_mode()
def td_error(q: Tensor, target: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
    """Q against its bootstrap target y, both in the units of the return: mean |Q - y|, mean and extremes of y.

    The target is r + gamma Q'(s', a'), as it stands in the loss (Watkins and Dayan 1992, doi:10.1007/BF00992698).
    """
    rows, (one, two) = aligned(mask, q=q, target=target)
    error, mean = rows.mean(torch.stack(((one - two).abs(), two))).unbind()
    low, high = rows.extremes(two)
    return {
        "critic/td_error_mean": error,
        "critic/target_mean": mean,
        "critic/target_max": high,
        "critic/target_min": low,
    }


def own_targets(q: Tensor, target: Tensor) -> tuple[Tensor, float]:
    """The target of each value's own row, and the share of pairs in a loss of both that belong to two rows.

    Values [B, 1] beside targets [B], or [B, B] where one part of them had lost its last dimension: arithmetic makes a
    table of all values against all targets, in which B of B^2 pairs belong together. The share is 0 where shapes agree.
    What does not broadcast so comes back as it is.
    """
    if q.shape == target.shape:
        return target, 0.0
    try:
        pairs = (q - target).numel()
    except RuntimeError:
        return target, 0.0
    number = q.numel()
    if target.numel() == number:
        return target.reshape(q.shape), 1 - number / pairs
    if target.numel() == pairs == number * number:
        return target.reshape(number, number).diagonal().reshape(q.shape), 1 - number / pairs
    return target, 0.0


@torch.inference_mode()
def q_bound(
    q: Tensor, reward_abs_max: float, gamma: float, *, bonus_abs_max: float = 0.0, mask: Tensor | None = None
) -> dict[str, Tensor]:
    """Q against the largest value that exists, (R_max + bonus) / (1 - gamma): the sum of a geometric series.

    `critic/q_abs_max_over_bound` is the largest |Q| over it, above 1 where Q is impossible.

    Args:
        q: Q or V values.
        reward_abs_max: The largest |reward| of one step, as the critic is given it.
        gamma: The discount factor.
        bonus_abs_max: What else a step can add: the temperature times the largest |entropy| for SAC.
        mask: Which values count.

    Raises:
        InputError: without discounting there is no bound.
    """
    if not (0 <= gamma < 1 and reward_abs_max >= 0 and bonus_abs_max >= 0):
        raise InputError(
            f"Q has no bound for gamma {gamma}, |reward| up to {reward_abs_max}, bonus up to {bonus_abs_max}.",
            "Give 0 <= gamma < 1 and sizes that are not negative.",
        )
    rows, (x,) = aligned(mask, q=q)
    bound = (reward_abs_max + bonus_abs_max) / (1 - gamma)
    size = x.abs()
    _, largest = rows.extremes(size)
    return {"critic/q_abs_max_over_bound": largest / bound, "critic/q_beyond_bound_frac": rows.mean(size > bound)}


def value_residual(stored: Tensor, now: Tensor) -> dict[str, float]:
    """How far stored values [B] are from those of a critic that has not moved since, over their spread."""
    return {name: float(value) for name, value in values_apart(stored, now).items()}


def values_apart(stored: Tensor, now: Tensor) -> dict[str, Tensor]:
    """As `value_residual`, left on its device.

    Values that hardly differ are held against a hundredth of their size: single precision differs by kernel.
    """
    given, found = stored.detach().float().reshape(-1), now.detach().float().reshape(-1)
    if given.shape != found.shape or given.numel() < 2:
        return {}
    size = found.std() + 1e-2 * found.abs().mean() + 1e-9
    return {"critic/value_residual": (given - found).square().mean().sqrt() / size}
