"""Small environments that write down everything they saw, and the comparison of what a trainer stored with it.

Observations are random and never repeat, so that each stored row can be found again; rewards are random and large, so
that a shift or a clip shows; episodes end by termination and by a time limit, in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .torch_types import Tensor, load_torch

OBS_SIZE = 6
"""Enough for twelve rows to be told apart by their gradients."""
LENGTHS = (5, 7, 3, 6)
"""Lengths of episodes in turn; the first of each pair terminates, the second is cut."""


@dataclass
class Ledger:
    """What one environment saw, a row for each step."""

    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def make_witness(kind: str, ledgers: list[Ledger], seed: int = 0) -> Any:
    """Return a Gymnasium environment with `discrete` or `continuous` actions that adds its ledger to `ledgers`."""
    import gymnasium
    import numpy as np

    class Witness(gymnasium.Env[Any, Any]):
        """Random observations and rewards, known endings."""

        def __init__(self) -> None:
            self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (OBS_SIZE,), np.float32)
            low, high = np.array([-2.0, -1.0], np.float32), np.array([2.0, 3.0], np.float32)
            self.action_space = (
                gymnasium.spaces.Discrete(3) if kind == "discrete" else gymnasium.spaces.Box(low, high, (2,))
            )
            self.ledger = Ledger()
            self.draw = np.random.default_rng([seed, len(ledgers)])
            self.episode, self.age = len(ledgers), 0
            ledgers.append(self.ledger)

        def _observe(self) -> Any:
            self.obs = self.draw.normal(size=OBS_SIZE).astype(np.float32)
            return self.obs.copy()

        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[Any, dict[str, Any]]:
            super().reset(seed=seed)
            self.episode += 1
            self.age = 0
            return self._observe(), {}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.age += 1
            before = self.obs.copy()
            over = self.age >= LENGTHS[self.episode % len(LENGTHS)]
            terminated, truncated = over and self.episode % 2 == 0, over and self.episode % 2 == 1
            reward = float(self.draw.normal() * 3.0)
            row: dict[str, Any] = {
                "obs": before,
                "action": np.array(action, copy=True),
                "reward": reward,
                "terminated": terminated,
                "truncated": truncated,
                "next_obs": self._observe(),
            }
            self.ledger.rows.append(row)
            return row["next_obs"].copy(), reward, terminated, truncated, {}

    return Witness()


def witnessed(ledgers: list[Ledger], last: int | None = None) -> dict[str, Tensor]:
    """The ledgers as tensors [T, N, ...], the `last` steps of each only."""
    import numpy as np

    torch = load_torch()

    steps = min(len(ledger.rows) for ledger in ledgers)
    first = 0 if last is None else max(0, steps - last)
    columns: dict[str, Any] = {}
    for key in ledgers[0].rows[0]:
        table = [[ledger.rows[t][key] for ledger in ledgers] for t in range(first, steps)]
        column = torch.from_numpy(np.array(table))
        columns[key] = column.float() if column.is_floating_point() else column
    return columns
