"""The trainer's advantages for rewards made up here: by group, and only by group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from ..invariants.bench import cannot
from ..invariants.torch_types import Tensor, load_torch
from .bench import TokenBench

GROUPS = 3
LARGE = 5.0
"""What is added to and multiplied with one group's rewards."""


@dataclass(frozen=True)
class Grouped:
    """What the trainer makes of rewards [GROUPS * G] whose groups are adjacent."""

    rewards: Tensor
    group: Tensor
    advantages: Tensor
    other_shifted: Tensor
    """With the rewards of the last group `LARGE` higher."""
    other_scaled: Tensor
    """With the rewards of the last group `LARGE` times as large."""
    equal: Tensor
    """With all rewards of the first group equal."""

    @property
    def first(self) -> Tensor:
        """The rows of the groups that were left alone."""
        return self.group < GROUPS - 1


def ask(bench: TokenBench, rewards: Tensor, group: Tensor) -> Tensor:
    """Ask the trainer for advantages, one for each row."""
    torch = load_torch()
    with torch.no_grad():
        found = cast(Callable[[Tensor, Tensor], Tensor], bench.pieces.advantages)(rewards.clone(), group.clone())
    found = torch.as_tensor(found).detach().float()
    if found.dim() == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.shape != rewards.shape:
        raise cannot(f"advantages have shape {tuple(found.shape)} for rewards [{len(rewards)}]")
    return found


def grouped(bench: TokenBench) -> Grouped:
    """Ask for the advantages of made-up rewards, and of the same rewards changed in one group."""
    torch = load_torch()
    bench.need("advantages")
    size = int(bench.pieces.settings.get("group_size", 4))
    if size < 2:
        raise cannot("a group has one row only")
    draw = torch.Generator().manual_seed(bench.seed)
    rewards = torch.rand(GROUPS * size, generator=draw)
    group = torch.arange(GROUPS).repeat_interleave(size)
    last, first = group == GROUPS - 1, group == 0
    return Grouped(
        rewards,
        group,
        ask(bench, rewards, group),
        ask(bench, rewards + LARGE * last, group),
        ask(bench, torch.where(last, LARGE * rewards, rewards), group),
        ask(bench, torch.where(first, 0.7, rewards), group),
    )


def interleaved(bench: TokenBench) -> float:
    """How far the advantages change when the rows come prompt by prompt in turn, over their own size."""
    torch = load_torch()
    found = bench.once(grouped)
    if bench.pieces.settings.get("groups_adjacent"):
        raise cannot("the trainer's sampler keeps the rows of a group together")
    order = torch.arange(len(found.rewards)).reshape(GROUPS, -1).T.flatten()
    other = ask(bench, found.rewards[order], found.group[order])
    return float((other - found.advantages[order]).norm() / found.advantages.norm().clamp(min=1e-30))
