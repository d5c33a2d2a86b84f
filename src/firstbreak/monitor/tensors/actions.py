"""What the actions look like: at their bounds, dimension by dimension, and whether action masks were obeyed."""

from __future__ import annotations

import torch
from torch import Tensor

from ...errors import InputError
from .rows import aligned, by_columns, limits, same_shape, tensor, widened

NEAR = 0.01
"""An action component within this share of the range of a bound is saturated: 2 % of uniform actions are."""
DIMENSIONS = 16
"""Single dimensions are told up to here; the extremes over dimensions are told of all."""


@torch.inference_mode()
def action_statistics(
    actions: Tensor, low: float | Tensor | None = None, high: float | Tensor | None = None, mask: Tensor | None = None
) -> dict[str, Tensor]:
    """Continuous actions [..., A] as sampled: mean and standard deviation of each dimension, and saturation.

    Mean and spread are in the units of the actions; `policy/saturation_frac` is the share within 1 % of the range of a
    bound (`NEAR`; 2 % of uniform actions are), a mean over all dimensions. The standard deviation over samples mixes
    the policy's noise with the change of its mean between states.

    Args:
        actions: After squashing or clipping where saturation is asked for.
        low: Lower bound, a number or [A]; a dimension without finite bounds never saturates.
        high: Upper bound.
        mask: Which rows [...] count.

    Raises:
        InputError: one bound without the other, or shapes that do not fit.
    """
    rows, columns = by_columns(actions, mask, "actions")
    mean, std = rows.spread(columns)
    measures = {"policy/action_spread_min": std.amin(), "policy/action_spread_max": std.amax()}
    measures |= _each("policy/action_mean", mean) | _each("policy/action_spread", std)
    if (low is None) != (high is None):
        raise InputError("One bound of the actions is given without the other.", "Give low and high.")
    if low is None or high is None:
        return measures
    bottom, top = limits(low, columns, "low"), limits(high, columns, "high")
    near = NEAR * (top - bottom)
    # Beside an infinite bound `near` is infinite, and everything would be near.
    share = rows.mean(((columns <= bottom + near) | (columns >= top - near)) & near.isfinite())
    return measures | {"policy/saturation_frac": share.mean()} | _each("policy/saturation_frac", share)


def _each(name: str, per_dimension: Tensor) -> dict[str, Tensor]:
    """One measure a dimension, `name/0`, `name/1` ..."""
    return {f"{name}/{i}": x for i, x in enumerate(per_dimension[:DIMENSIONS].unbind())}


@torch.inference_mode()
def invalid_actions(
    actions: Tensor, allowed: Tensor, logits: Tensor | None = None, mask: Tensor | None = None
) -> dict[str, Tensor]:
    """Whether action masks are honoured: share of actions that were not allowed, and the probability left on such.

    Args:
        actions: Indices [...].
        allowed: Which of n actions are allowed [..., n].
        logits: Of the policy [..., n], as used for sampling and for the loss.
        mask: Which rows [...] count.
    """
    if tensor(allowed, "allowed").shape[:-1] != tensor(actions, "actions").shape:
        raise InputError(
            f"allowed has shape {list(allowed.shape)}, but actions have {list(actions.shape)}.",
            "allowed needs one more dimension than the actions: one entry an action.",
        )
    ok = allowed != 0
    if ok.shape[-1] == 0:
        raise InputError(f"allowed has shape {list(allowed.shape)}: there are no actions.", "")
    # An index out of range would kill the process on a GPU: look it up in range, then call it invalid.
    index = actions.long()
    inside = index.clamp(0, ok.shape[-1] - 1)
    chosen = ok.gather(-1, inside.unsqueeze(-1)).squeeze(-1) & (inside == index)
    rows, (good,) = aligned(mask, actions=chosen)
    measures = {"policy/invalid_action_frac": rows.mean(good == 0)}
    if logits is not None:
        same_shape({"allowed": allowed, "logits": tensor(logits, "logits")})
        wrong = torch.where(ok, 0, widened(logits).softmax(-1)).sum(-1).reshape(-1)
        measures["policy/invalid_prob_mean"] = rows.mean(wrong if wrong.numel() else wrong.new_zeros(1))
    return measures


@torch.inference_mode()
def padding_in_loss(per_token: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """Share of the loss that sits on padding: per-token losses or loss weights [B, T], mask [B, T] of real tokens.

    0 when the mask is honoured. NaN when there is no loss at all.
    """
    same_shape({"per_token": tensor(per_token, "per_token"), "mask": tensor(mask, "mask")})
    size = widened(per_token).abs()
    return {"seq/padding_loss_frac": torch.where(mask != 0, 0, size).sum() / size.sum()}
