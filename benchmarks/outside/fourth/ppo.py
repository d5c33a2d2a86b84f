"""PPO in one file, as the third list has it, and what the fourth list plants in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch

from benchmarks.outside.single import ppo
from benchmarks.outside.switches import Planted

DEFAULTS: dict[str, Any] = ppo.DEFAULTS
BONUS = 1.0
"""The entropy bonus of `entropy-bonus-large`."""
SMALL = -5.0
"""The logarithm of the spread of `spread-frozen-small`."""
Rows = dict[str, torch.Tensor]


class Script(ppo.Script):
    """What the script holds in its variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
        aside: Callable[[], gym.Env[Any, Any]] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(make, given, seed, planted, folder, aside)
        self.kept: list[Rows] = []
        self.values_before: torch.Tensor | None = None

    def play(self, actions: Any) -> torch.Tensor:
        """Step every copy. Returns rewards [N]."""
        rewards = super().play(actions)
        return rewards.mean().expand_as(rewards) if self.planted.on("reward-shared-out") else rewards

    def collect(self) -> Rows:
        """Collect one rollout [T, N], with advantages."""
        on = self.planted.on
        if on("spread-frozen-small") and self.agent.logstd is not None:
            self.agent.logstd.requires_grad_(False)
            self.agent.logstd.fill_(SMALL)
        rows = super().collect()
        before, self.values_before = self.values_before, rows["value"]
        if on("value-clip-stale") and before is not None:
            rows = rows | {"about": before}
        if on("rollout-not-cleared"):  # new rows are put behind the old ones
            self.kept.append(rows)
            rows = {name: torch.cat([one[name] for one in self.kept]) for name in rows}
        return rows

    def step(self, rows: Rows) -> dict[str, float]:
        """Take one gradient step."""
        on = self.planted.on
        if on("old-log-prob-recomputed"):
            with torch.no_grad():
                rows = rows | {"logp": self.agent.policy(rows["obs"]).log_prob(rows["action"])}
        if on("normalised-in-pairs"):
            pairs = rows["adv"].reshape(-1, 2)
            pairs = (pairs - pairs.mean(1, keepdim=True)) / (pairs.std(1, keepdim=True) + 1e-8)
            rows = rows | {"adv": pairs.flatten()}
        if on("entropy-bonus-large"):
            self.cfg["ent_coef"] = BONUS
        if on("spread-frozen-small") and self.agent.logstd is not None:
            self.agent.logstd.grad = None
        return super().step(rows)

    def value_loss(self, value: torch.Tensor, rows: Rows) -> torch.Tensor:
        """Return half the squared error."""
        if self.planted.on("value-without-graph"):  # it went through `.item()`
            value = value.detach()
        about = rows.get("about")
        return super().value_loss(value, rows if about is None else rows | {"value": about})


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
    aside: Callable[[], gym.Env[Any, Any]],
) -> list[tuple[int, float]]:  # fmt: skip
    """Train once; the log lands in `folder`. Returns what evaluations said."""
    return Script(make, given, seed, planted, folder, aside).run()
