"""Rewards in groups of answers to one prompt (GRPO, RLOO)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ...errors import InputError
from .rows import aligned, same_shape, tensor, widened


@torch.inference_mode()
def group_spread(
    rewards: Tensor, group_size: int | None = None, *, solved_at: float | None = None, mask: Tensor | None = None
) -> dict[str, Tensor]:
    """Spread of rewards within groups: without any, a group teaches nothing (Shao et al. 2024, arXiv 2402.03300).

    A group has no spread when its largest and smallest rewards are equal. Standard deviations within groups are of the
    sample (n - 1), as TRL and verl take them; groups of one are left out of their mean.

    Args:
        rewards: [G, K], or [G * K] with `group_size` K, groups one after the other.
        group_size: K, for flat rewards.
        solved_at: A reward at or above counts as solved.
        mask: Which answers count, in the shape of the rewards; a group without any is left out.

    Raises:
        InputError: the rewards are no whole number of groups.
    """
    table, keep = _table(rewards, group_size, mask)
    count = keep.sum(1, dtype=table.dtype)
    some, high = count > 0, torch.where(keep, table, -math.inf).amax(1)
    low = torch.where(keep, table, math.inf).amin(1)
    mean = torch.where(keep, table, 0).sum(1) / count
    rest = torch.where(keep, table - mean.unsqueeze(1), 0)
    std = ((rest * rest).sum(1) / (count - 1)).sqrt()
    groups = some.sum(dtype=table.dtype)
    measures = {
        "group/zero_std_fraction": (some & (high == low)).sum(dtype=table.dtype) / groups,
        "group/reward_std_mean": torch.where(count > 1, std, 0).sum() / (count > 1).sum(dtype=table.dtype),
    }
    if solved_at is not None:
        measures["group/all_solved_fraction"] = (some & (low >= solved_at)).sum(dtype=table.dtype) / groups
        measures["group/none_solved_fraction"] = (some & (high < solved_at)).sum(dtype=table.dtype) / groups
    return measures | _over_all(rewards, mask)


def _over_all(rewards: Tensor, mask: Tensor | None) -> dict[str, Tensor]:
    rows, (flat,) = aligned(mask, rewards=rewards)
    mean, std = rows.spread(flat)
    low, high = rows.extremes(flat)
    return {"reward/train_mean": mean, "reward/train_std": std, "reward/train_min": low, "reward/train_max": high}


def _table(rewards: Tensor, group_size: int | None, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """The rewards as [G, K] in float32 or better, and which count."""
    shape = list(tensor(rewards, "rewards").shape)
    if mask is not None:
        same_shape({"rewards": rewards, "mask": tensor(mask, "mask")})
    size = group_size if group_size is not None else shape[1] if len(shape) == 2 else 0
    if size < 1 or len(shape) not in {1, 2} or rewards.numel() % size or (len(shape) == 2 and shape[1] != size):
        raise InputError(
            f"rewards of shape {shape} are not groups of {group_size}.",
            "Give [G, K], or flat rewards [G * K] with group_size=K.",
        )
    table = widened(rewards).reshape(-1, size)
    keep = torch.ones_like(table, dtype=torch.bool) if mask is None else mask.reshape(-1, size) != 0
    return table, keep
