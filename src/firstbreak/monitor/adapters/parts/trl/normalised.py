"""Advantages beside those that the settings make of the rewards: the same for every task."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .advantages import ROUNDING

RESIDUAL, SIZE = "advantage/residual_frac", "advantage/size_ratio"
SIDE = "advantage/dropped_side"
SCALED = "others, scaled"
EPSILON = 1e-4
"""That TRL adds to the spread by which it divides."""
REAL = 0.01
"""Spread of a group over the largest of the batch under which what is left of its rewards may be rounding."""


def wanted(rewards: Tensor, size: int, scale: str) -> Tensor:
    """Return advantages [G * K] by Shao et al. 2024, arXiv 2402.03300, section 4.1.2, as TRL computes them.

    Args:
        rewards: What is paid in all [G * K]; NaN where a response has none.
        size: K.
        scale: `group`, `batch` or `none`: by whose spread the distance from the group's mean is divided. `others`: the
            distance from the mean of the others (Ahmadian et al. 2024, arXiv 2402.14740, equation 9), and
            `others, scaled` that over the spread of the batch.
    """
    table = rewards.double().reshape(-1, size)
    apart = table - table.nanmean(1, keepdim=True)
    if scale == "group":
        apart = apart / (_spread(table) + EPSILON)
    elif scale == "batch":
        apart = apart / (_spread(table.reshape(1, -1)) + EPSILON)
    elif scale.startswith("others"):
        count = (~table.isnan()).sum(1, keepdim=True)
        apart = apart * count / (count - 1)
        if scale == SCALED:
            apart = (apart - apart.nanmean()) / (_spread(apart.reshape(1, -1)) + EPSILON)
    return apart.nan_to_num().reshape(-1)


@torch.no_grad()
def beside(advantages: Tensor, rewards: Tensor, size: int, scale: str) -> dict[str, Tensor]:
    """Return how far advantages are from those of the settings; NaN where a batch says nothing.

    Left out are groups without any advantage (a filter of groups), groups whose rewards differ by rounding, and
    responses whose advantage was taken away: those are told of by their side, -1 where all were paid below the mean of
    their group, 1 where all above.

    Args:
        advantages: [G * K], as the loss gets them.
        rewards: [G * K].
        size: K.
        scale: See `wanted`.

    Returns:
        The share of the advantages, as a vector, that is not along the expected ones; their length over that of the
        expected ones; the mean side of the responses whose advantage was taken away.
    """
    a, e = advantages.double(), wanted(rewards, size, scale).to(advantages.device)
    spread = _spread(rewards.double().reshape(-1, size))
    least = torch.maximum(REAL * spread.nan_to_num().max(), ROUNDING * rewards.double().nan_to_num().abs().max())
    live = ((a.reshape(-1, size) != 0).any(1, keepdim=True) & (spread > least)).expand(-1, size).reshape(-1)
    # A group that lost one side keeps what the other side should have; one that lost all looks like a filter's.
    gone = live & (a == 0) & (e.abs() > REAL * e.abs().max())
    kept = live & ~gone
    own, want, both = (a * a * kept).sum(), (e * e * kept).sum(), (a * e * kept).sum()
    aligned = both / (own * want).sqrt()
    return {
        RESIDUAL: (1 - aligned.clamp(min=0.0) ** 2).clamp(min=0.0).sqrt(),
        SIZE: (own / want).sqrt(),
        SIDE: (e.sign() * gone).sum() / gone.sum(),
    }


def scale_of(trainer: Any) -> str | None:
    """Return the `scale` of `wanted`; None where advantages hang on more than what is paid to a group or a batch."""
    summed = getattr(trainer, "multi_objective_aggregation", "sum_then_normalize") == "sum_then_normalize"
    if not summed or int(trainer.accelerator.num_processes) != 1:
        return None
    if hasattr(trainer, "normalize_advantages"):  # RLOO's own setting
        return SCALED if trainer.normalize_advantages else "others"
    scale = str(getattr(trainer, "scale_rewards", ""))
    return scale if scale in ("group", "batch", "none") else None


def _spread(table: Tensor) -> Tensor:
    """Standard deviation [G, 1] of each row, by n - 1, of what is no NaN."""
    known = ~table.isnan()
    count = known.sum(1, keepdim=True)
    off = (table - table.nanmean(1, keepdim=True)).nan_to_num()
    return (off.square().sum(1, keepdim=True) / (count - 1).clamp(min=1)).sqrt()
