"""What a trainer of language models learns from: responses with their rewards, and the tensors made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Any, cast

import torch
from torch import Tensor

from .sampling import Row, collate
from .tasks import Problem, RewardFunction

Batch = dict[str, Tensor]
"""Tensors of the same rows: those of `sampling.collate`, and `reward advantage old_log_prob ref_log_prob ...`.

Tables are [B, L], one entry a token; `reward`, `advantage`, `solved`, `group`, `truncated` are [B].
"""


@dataclass
class Experience:
    """Responses, what each was paid, and whether it really solved its problem."""

    rows: list[Row]
    reward: Tensor
    """[B], all reward functions with their weights."""
    components: dict[str, Tensor]
    """Name of a reward function -> what it paid [B], without its weight."""
    solved: Tensor
    """[B], true where the task says so, whatever was paid."""
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    """Metrics of how it was come by."""

    def batch(self) -> Batch:
        """The tensors of all rows."""
        return {**collate(self.rows), "reward": self.reward, "solved": self.solved}

    def group_ids(self) -> list[int]:
        """Groups, in the order of their rows."""
        return list(dict.fromkeys(row.group for row in self.rows))

    def differs(self) -> Tensor:
        """Rows [B] whose group holds different rewards."""
        group = torch.tensor([row.group for row in self.rows])
        spread = {one: len(set(cast(Any, self.reward[group == one]).tolist())) > 1 for one in self.group_ids()}
        return torch.tensor([spread[row.group] for row in self.rows])

    def first_groups(self, count: int) -> Experience:
        """The rows of the first `count` groups."""
        wanted = set(self.group_ids()[:count])
        return self.only(torch.tensor([row.group in wanted for row in self.rows], dtype=torch.bool))

    def only(self, keep: Tensor) -> Experience:
        """The rows that `keep` [B] says."""
        rows = [row for row, kept in zip(self.rows, cast(Any, keep).tolist(), strict=True) if kept]
        components = {name: values[keep] for name, values in self.components.items()}
        return Experience(rows, self.reward[keep], components, self.solved[keep], self.numbers)


def joined(parts: Sequence[Experience]) -> Experience:
    """All rows of the parts, in order."""
    components = {name: torch.cat([part.components[name] for part in parts]) for name in parts[0].components}
    rows = [row for part in parts for row in part.rows]
    rewards, solved = (torch.cat([getattr(part, name) for part in parts]) for name in ("reward", "solved"))
    return Experience(rows, rewards, components, solved)


def scored(
    rows: list[Row],
    problems: Sequence[Problem],
    rewards: Mapping[str, RewardFunction],
    weights: Mapping[str, float],
    solved: RewardFunction,
) -> Experience:
    """Ask every reward function about every row."""
    asked = [(problem, row.text, row.ended) for problem, row in zip(problems, rows, strict=True)]
    components = {name: torch.tensor([float(reward(*one)) for one in asked]) for name, reward in rewards.items()}
    total = sum((weights.get(name, 1.0) * values for name, values in components.items()), torch.zeros(len(rows)))
    return Experience(rows, total, components, torch.tensor([solved(*one) == 1.0 for one in asked]))


class Stopwatch:
    """Seconds by phase: `with stopwatch("time/generate"): ...`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._phase, self._began = "", 0.0

    def __call__(self, phase: str) -> Stopwatch:
        """Name the phase that the next `with` block is."""
        self._phase = phase
        return self

    def __enter__(self) -> None:
        self._began = perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + perf_counter() - self._began

    def drain(self) -> dict[str, float]:
        """Return the seconds since the last call."""
        seconds, self.seconds = self.seconds, {}
        return seconds


def rows_of(batch: Batch, rows: Any) -> Batch:
    """The given rows (indices or a mask) of every tensor."""
    return {name: values[rows] for name, values in batch.items()}
