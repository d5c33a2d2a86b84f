"""Exact KL, entropy and spread of a policy from the parameters of its distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from ...errors import InputError
from .reduced import Reduced, quotient
from .rows import Rows, by_columns, limits, same_shape, table, tensor, widened

_entr = cast("Callable[[Tensor], Tensor]", cast(Any, torch.special).entr)
"""-p log p, and 0 at 0."""

GAUSSIAN_NATS = 0.5 * math.log(2 * math.pi * math.e)
"""Differential entropy of a standard normal."""


@torch.inference_mode()
def categorical_kl(old_logits: Tensor, new_logits: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
    """Exact KL(old || new) of categorical policies with logits [..., n]; actions of old probability 0 add nothing."""
    same_shape({"old_logits": tensor(old_logits, "old_logits"), "new_logits": tensor(new_logits, "new_logits")})
    rows = table(old_logits, mask, "old_logits")
    old, new = _log_softmax(old_logits), _log_softmax(new_logits)
    p = old.exp()
    return _kl(rows, torch.where(p == 0, 0, p * (old - new)).sum(-1))


@torch.inference_mode()
def gaussian_kl(
    old_mean: Tensor, old_std: Tensor, new_mean: Tensor, new_std: Tensor, mask: Tensor | None = None
) -> dict[str, Tensor]:
    """Exact KL(old || new) of diagonal Gaussians [..., A], summed over dimensions.

    A standard deviation that does not depend on the state may be [A]. The same holds before a tanh, which keeps KL.
    """
    given = {"old_mean": tensor(old_mean, "old_mean"), "new_mean": tensor(new_mean, "new_mean")}
    given |= {"old_std": _of_rows(old_std, old_mean, "old_std"), "new_std": _of_rows(new_std, new_mean, "new_std")}
    same_shape(given)
    rows, m0 = by_columns(old_mean, mask, "old_mean")
    m1, s0, s1 = (by_columns(given[name], None, name)[1] for name in ("new_mean", "old_std", "new_std"))
    ratio, gap = s0 / s1, (m0 - m1) / s1
    return _kl(rows, (0.5 * (ratio * ratio + gap * gap - 1) - ratio.log()).sum(0))


def _of_rows(std: Tensor, mean: Tensor, name: str) -> Tensor:
    """One std [A] for all rows as [..., A]; anything else is left as it is."""
    return std.expand_as(mean) if tensor(std, name).shape == mean.shape[-1:] else std


def _kl(rows: Rows, per_row: Tensor) -> dict[str, Tensor]:
    x = per_row.reshape(-1)
    if x.numel() == 0:
        x = x.new_zeros(1)
    _, largest = rows.extremes(x)
    return {"policy/kl_old": rows.mean(x), "policy/kl_max": largest}


def categorical_entropy(logits: Tensor, mask: Tensor | None = None) -> Reduced:
    """Entropy of categorical policies with logits [..., n], in nats and as a share of the largest possible.

    The largest is log n of the actions whose logit is not -inf. NaN where no row has a choice.
    """
    rows = table(logits, mask, "logits")
    x = tensor(logits, "logits")
    entropy = _entr(widened(x).softmax(-1)).sum(-1)
    choices = (x != -math.inf).sum(-1, dtype=entropy.dtype).log()
    both = torch.stack((entropy, choices))
    both = both if both.dim() == 2 else both.reshape(2, -1)
    totals = rows.total(both if both.shape[1] else both.new_zeros(2, 1))
    return rows.reduced(("policy/entropy", "policy/entropy_frac"), _share, totals)


def _share(number: Any, totals: Any) -> tuple[Any, ...]:
    entropy, most = totals
    return quotient(entropy, number), quotient(entropy, most)


def _log_softmax(logits: Tensor) -> Tensor:
    return widened(logits).log_softmax(-1)


@torch.inference_mode()
def gaussian_spread(
    std: Tensor, low: float | Tensor | None = None, high: float | Tensor | None = None, mask: Tensor | None = None
) -> dict[str, Tensor]:
    """Standard deviation and entropy of a diagonal Gaussian with std [A] or [..., A], before any squashing.

    With the bounds of the actions (a number or [A]) also the mean of std / (high - low), and
    `policy/entropy_to_uniform`: nats per dimension above the uniform distribution over the range, so that action units
    drop out. 0 is as wide as uniform, and -3 is narrow; differential entropies have no meaningful quotient. Dimensions
    without finite bounds are left out of both.

    Raises:
        InputError: one bound without the other, or shapes that do not fit.
    """
    rows, columns = by_columns(std, mask, "std")
    smallest, largest = rows.extremes(columns)
    logs = rows.mean(columns.log())
    measures = {
        "policy/action_std": rows.mean(columns).mean(),
        "policy/action_std_min": smallest.amin(),
        "policy/action_std_max": largest.amax(),
        "policy/entropy": (logs + GAUSSIAN_NATS).sum(),
    }
    if (low is None) != (high is None):
        raise InputError("One bound of the actions is given without the other.", "Give low and high.")
    if low is None or high is None:
        return measures
    width = limits(high, columns, "high") - limits(low, columns, "low")
    bounded = width.isfinite().expand(columns.shape[0], 1).squeeze(-1)
    count = bounded.sum(dtype=columns.dtype)
    share, gap = rows.mean(columns / width), logs + GAUSSIAN_NATS - width.log().squeeze(-1)
    measures["policy/action_std_range_frac"] = torch.where(bounded, share, 0).sum() / count
    measures["policy/entropy_to_uniform"] = torch.where(bounded, gap, 0).sum() / count
    return measures


@torch.inference_mode()
def logit_extremes(logits: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
    """Largest absolute logit or pre-tanh mean [..., n]; -inf marks an action that is not allowed and does not count.

    Args:
        logits: As the network gives them.
        mask: Which elements count, of the same shape.
    """
    x = widened(tensor(logits, "logits"))
    size = torch.where(x == -math.inf, 0, x.abs())
    if mask is not None:
        same_shape({"logits": logits, "mask": tensor(mask, "mask")})
        size = torch.where(mask != 0, size, 0)
    largest = size.amax() if size.numel() else size.new_full((), math.nan)
    return {"policy/logit_abs_max": largest}
