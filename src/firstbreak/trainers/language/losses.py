"""The published losses of group-relative policy optimisation, as functions of log-probabilities.

With ratios r, advantages A, responses o_i of one update, and L the longest length that a response may have:

    grpo     mean over i of the mean over the tokens of o_i          Shao et al. 2024, arXiv 2402.03300, eq. 3
    dr_grpo  sum over all tokens / (responses * L)                   Liu et al. 2025, arXiv 2503.20783, section 3.2
    dapo     sum over all tokens / all tokens of the update          Yu et al. 2025, arXiv 2503.14476, eq. 8, as
                                                                     implementations take it: not group by group
    bnpo     sum over all tokens / all tokens of the micro-batch     the same, where a micro-batch is all one sees
    gspo     as grpo, with one ratio a sequence                      Zheng et al. 2025, arXiv 2507.18071, eq. 5 to 7
    cispo    as dapo, r capped and held constant, times A log pi     MiniMax 2025, arXiv 2506.13585, eq. 4 and 5
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor

LossType = Literal["grpo", "dr_grpo", "dapo", "bnpo", "gspo", "cispo"]
KlEstimator = Literal["k1", "k2", "k3"]
LOSS_TYPES: tuple[LossType, ...] = ("grpo", "dr_grpo", "dapo", "bnpo", "gspo", "cispo")


@dataclass(frozen=True)
class Whole:
    """How much one optimiser step takes in, over all of its micro-batches; what a sum is divided by."""

    responses: int
    """Responses with at least one token in the loss."""
    tokens: int
    """Tokens in the loss."""
    longest: int
    """L, the longest length that a response may have."""
    micro_batches: int = 1


def whole_of(mask: Tensor, longest: int, micro_batches: int = 1) -> Whole:
    """Count the loss mask [B, T] of all rows of an optimiser step."""
    return Whole(int(mask.any(1).sum()), int(mask.sum()), longest, micro_batches)


def averaged(values: Tensor, mask: Tensor, loss_type: LossType, whole: Whole) -> Tensor:
    """Average token values [B, T] as `loss_type` says; the micro-batches' results add up to that of the step."""
    kept = torch.where(mask, values, 0.0)
    if loss_type in ("grpo", "gspo"):
        return (kept.sum(1) / mask.sum(1).clamp(min=1)).sum() / max(whole.responses, 1)
    if loss_type == "dr_grpo":
        return kept.sum() / max(whole.responses * whole.longest, 1)
    if loss_type == "bnpo":
        return kept.sum() / mask.sum().clamp(min=1) / whole.micro_batches
    return kept.sum() / max(whole.tokens, 1)


def log_ratios(log_prob: Tensor, old_log_prob: Tensor, mask: Tensor, loss_type: LossType) -> Tensor:
    """Logarithm of the importance ratio [B, T] of each token; for `gspo` that of its sequence, per token of it."""
    difference = torch.where(mask, log_prob - old_log_prob, 0.0)
    if loss_type != "gspo":
        return difference
    sequence = difference.sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
    return sequence.expand_as(difference)


def clipped_surrogate(
    ratio: Tensor, advantage: Tensor, low: float, high: float, dual_clip: float | None = None
) -> Tensor:
    """What clipping leaves of r A: min(r A, clip(r, 1 - low, 1 + high) A) (Schulman et al. 2017, arXiv 1707.06347).

    `high` above `low` is clip-higher (DAPO, section 3.1). `dual_clip` c > 1 bounds the term from below by c A where
    A < 0 (Ye et al. 2020, arXiv 1912.09729).
    """
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage)
    if dual_clip is None:
        return gain
    return torch.where(advantage < 0, torch.maximum(gain, dual_clip * advantage), gain)


def capped_reinforce(ratio: Tensor, log_prob: Tensor, advantage: Tensor, high: float) -> Tensor:
    """CISPO's term: the ratio capped at 1 + high and held constant, times A log pi. The paper sets no lower bound."""
    return ratio.detach().clamp(max=1 + high) * advantage * log_prob


def kl_terms(log_prob: Tensor, ref_log_prob: Tensor, estimator: KlEstimator) -> Tensor:
    """KL to the reference of tokens that the policy drew, by estimator (http://joschu.net/blog/kl-approx.html).

    As a loss k1 has no expected gradient and k3 that of the other direction at first order; k2 has the right one
    (Liu et al. 2025, arXiv 2510.01555). GRPO's paper takes k3.
    """
    difference = ref_log_prob - log_prob
    if estimator == "k1":
        return -difference
    return difference**2 / 2 if estimator == "k2" else difference.expm1() - difference


def group_advantages(reward: Tensor, group: Tensor, scale: Literal["group", "batch", "none"]) -> Tensor:
    """Reward [B] minus the mean of its group, over a standard deviation: of the group, of the batch, or none.

    Standard deviations are of the sample (n - 1), plus 1e-4, as TRL takes them. Liu et al. 2025 leave them out.
    """
    place: Tensor = cast(Any, group).unique(return_inverse=True)[1]
    count = torch.zeros(len(set(cast(Any, group).tolist()))).index_add(0, place, torch.ones_like(reward))
    mean = torch.zeros_like(count).index_add(0, place, reward) / count
    centred = reward - mean[place]
    if scale == "none":
        return centred
    if scale == "batch":
        return centred / ((reward.std() if reward.numel() > 1 else reward.new_zeros(())) + 1e-4)
    spread = torch.zeros_like(count).index_add(0, place, centred**2) / (count - 1).clamp(min=1)
    return centred / (spread.sqrt()[place] + 1e-4)
