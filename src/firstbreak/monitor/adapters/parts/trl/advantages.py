"""What became of the rewards on their way to the loss: advantages of each group beside the rewards they come from."""

from __future__ import annotations

import torch
from torch import Tensor

OFFSET, ORDER = "advantage/group_offset", "advantage/order_agreement"
DROPPED, DROPPED_LENGTH = "seq/dropped_frac", "seq/dropped_len_ratio"
GROUPS_DROPPED = "advantage/groups_dropped_frac"
ROUNDING = 1e-5
"""Distance of a reward from the mean of its group, over the largest reward, that may be rounding."""
SMALL = 0.01
"""Advantages of a group over the largest of the batch that may be rounding: where all responses are paid alike TRL
divides what is left of the mean's rounding by 1e-4 and more."""


@torch.no_grad()
def against_rewards(advantages: Tensor, rewards: Tensor, lengths: Tensor, size: int) -> dict[str, Tensor]:
    """Hold advantages against rewards; what has no meaning in a batch is NaN, and without finite rewards all of it.

    By the definition of a group's advantage (Shao et al. 2024, arXiv 2402.03300, section 4.1.2) it sums to 0 over the
    group, is 0 only where the reward is the mean of its group, and has the sign of the reward's distance from it.

    Args:
        advantages: [G * K], as the loss gets them, groups in a row.
        rewards: [G * K]; NaN where a response has none.
        lengths: Tokens of each response [G * K].
        size: K.

    Returns:
        Mean over groups of |sum of A| / sum of |A|; the agreement in sign of A and reward, weighted by the latter's
        distance, -1 to 1; the share of responses with a distance that got no advantage; their mean length over that of
        the others that have a distance; the share of groups with a spread of rewards that got no advantage at all.
    """
    a, lengths, table = advantages.float(), lengths.float(), rewards.float().reshape(-1, size)
    paid = (table - table.nanmean(1, keepdim=True)).nan_to_num().reshape(-1)
    apart = paid.abs() > ROUNDING * rewards.float().nan_to_num().abs().max()
    # A group without any advantage was left out as a whole: a filter of groups, such as firstbreak's own.
    live, kept_groups = apart.reshape(-1, size).any(1), (a.reshape(-1, size) != 0).any(1)
    trained = kept_groups[:, None].expand(-1, size).reshape(-1)
    apart &= trained
    dropped = apart & (a == 0)
    groups, lost = a.reshape(-1, size), dropped.reshape(-1, size).any(1)
    sums, sizes = groups.sum(1).abs(), groups.abs().sum(1)
    # Without a reward that differs from its group nothing tells an advantage from rounding.
    judged = (sizes > SMALL * size * a.abs().max()) & ~lost & apart.any()
    offset = torch.where(judged, sums / sizes, 0.0).sum() / judged.sum()
    weight = paid.abs() * (apart & (a != 0))
    kept = apart & ~dropped
    short = (lengths * dropped).sum() / dropped.sum()
    return {
        OFFSET: offset,
        ORDER: (weight * a.sign() * paid.sign()).sum() / weight.sum(),
        DROPPED: dropped.sum() / apart.sum(),
        GROUPS_DROPPED: (live & ~kept_groups).sum() / live.sum(),
        DROPPED_LENGTH: short / ((lengths * kept).sum() / kept.sum()),
    }
