"""What the trainers of language models log, under the canonical names. Masks [B, L] say which tokens count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, cast

import torch
from torch import Tensor

from .sampling import Row

Numbers = dict[str, float]


def numbers(measures: Mapping[str, Tensor | float]) -> Numbers:
    """Turn tensors of one number into numbers."""
    return {name: float(value) for name, value in measures.items()}


def spread(values: Tensor) -> Tensor:
    """Standard deviation of the sample (n - 1); 0 for a single value."""
    return values.std() if values.numel() > 1 else values.new_zeros(())


# ---- rewards ------------------------------------------------------------------------------------------------------


def reward_measures(reward: Tensor, components: Mapping[str, Tensor]) -> Numbers:
    """Reward [B] of the responses trained on, and each reward function's share before its weight."""
    measures: dict[str, Tensor | float] = {
        "reward/train_mean": reward.mean(),
        "reward/train_std": spread(reward),
        "reward/train_min": reward.min(),
        "reward/train_max": reward.max(),
    }
    for name, values in components.items():
        measures[f"reward/component/{name}"] = values.mean()
        measures[f"reward/component_std/{name}"] = spread(values)
    return numbers(measures)


def group_measures(reward: Tensor, solved: Tensor, group: Tensor) -> Numbers:
    """Groups without a spread of rewards, split by whether all or none of their responses [B] are right."""
    alike: list[bool] = []
    all_right: list[bool] = []
    all_wrong: list[bool] = []
    spreads: list[Tensor] = []
    for one in cast(Any, group).unique():
        rewards, right = reward[group == one], solved[group == one]
        alike.append(bool(rewards.max() == rewards.min()))
        all_right.append(bool(right.all()))
        all_wrong.append(not bool(right.any()))
        spreads.append(spread(rewards))
    count = len(alike)
    return {
        "group/zero_std_fraction": sum(alike) / count,
        "group/all_solved_fraction": sum(all_right) / count,
        "group/none_solved_fraction": sum(all_wrong) / count,
        "group/reward_std_mean": float(torch.stack(spreads).mean()),
    }


def advantage_measures(advantage: Tensor) -> Numbers:
    """Advantages [B] as they enter the loss."""
    return numbers(
        {
            "advantage/mean": advantage.mean(),
            "advantage/std": advantage.std(correction=0),
            "advantage/min": advantage.min(),
            "advantage/max": advantage.max(),
            "advantage/abs_mean": advantage.abs().mean(),
            "advantage/abs_max": advantage.abs().max(),
            "advantage/positive_frac": (advantage > 0).float().mean(),
            "advantage/zero_frac": (advantage == 0).float().mean(),
        }
    )


def group_advantage_measures(advantage: Tensor, reward: Tensor, group: Tensor) -> Numbers:
    """Advantages [B] as they enter the loss, and how far their signs agree with what is paid within each group.

    An advantage has the sign of the reward's distance from the mean of its group (Shao et al. 2024, arXiv 2402.03300,
    section 4.1.2): 1, weighted by that distance. Groups that are paid alike say nothing; without another, it is left
    out.
    """
    agreed = weight = 0.0
    for one in cast(Any, group).unique():
        rewards, given = reward[group == one], advantage[group == one]
        if rewards.max() > rewards.min():
            paid = rewards - rewards.mean()
            agreed += float((paid * given.sign()).sum())
            weight += float((paid.abs() * (given != 0)).sum())
    found = {"advantage/order_agreement": agreed / weight} if weight else {}
    return {**advantage_measures(advantage), **found}


# ---- sequences ----------------------------------------------------------------------------------------------------


def length_measures(rows: Sequence[Row], solved: Tensor) -> Numbers:
    """Lengths of the responses in tokens that the model wrote, and how they ended; `solved` [B] says which are right.

    A mean over no response at all is left out.
    """
    length = torch.tensor([float(row.length) for row in rows])
    prompt = torch.tensor([float(len(row.prompt)) for row in rows])
    total = torch.tensor([float(len(row.prompt) + len(row.tokens)) for row in rows])
    ended = torch.tensor([row.ended for row in rows])
    measures: dict[str, Tensor | float] = {
        "seq/len_mean": length.mean(),
        "seq/len_max": length.max(),
        "seq/len_min": length.min(),
        "seq/len_std": spread(length),
        "seq/total_len_mean": total.mean(),
        "seq/total_len_max": total.max(),
        "seq/prompt_len_mean": prompt.mean(),
        "seq/truncated_fraction": 1.0 - ended.float().mean(),
        "seq/aborted_fraction": (length <= ended).float().mean(),  # nothing but EOS
        "seq/repetition_fraction": sum(repetitive(row) for row in rows) / len(rows),
        "sample/count": float(len(rows)),
    }
    parts = {"correct": solved, "incorrect": ~solved, "terminated": ended}
    measures |= {f"seq/len_{name}_mean": length[part].mean() for name, part in parts.items() if part.any()}
    return numbers(measures)


def repetitive(row: Row) -> bool:
    """Whether one symbol makes up more than half of a response of at least six own tokens. Engineering default."""
    tokens = [token for token, own in zip(row.tokens, row.own, strict=True) if own]
    return len(tokens) >= 6 and max(tokens.count(token) for token in set(tokens)) > len(tokens) / 2


# ---- evaluation ---------------------------------------------------------------------------------------------------


def pass_at_k(right: int, tries: int, k: int) -> float:
    """Unbiased estimate of pass@k from `right` of `tries` (Chen et al. 2021, arXiv 2107.03374, eq. 1)."""
    return 1.0 - comb(tries - right, k) / comb(tries, k)
