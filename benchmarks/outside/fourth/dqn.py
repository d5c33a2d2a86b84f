"""DQN and C51 in one file, as the third list has them, and what the fourth list plants in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym

from benchmarks.outside.fourth.faulty import kill_units
from benchmarks.outside.fourth.replay import Replay
from benchmarks.outside.single import dqn
from benchmarks.outside.switches import Planted

DEFAULTS: dict[str, Any] = dqn.DEFAULTS


class Script(dqn.Script):
    """What the script holds in its variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        super().__init__(make, given, seed, planted, folder)
        self.replay = Replay(self.cfg["buffer_size"], self.width, 1, planted)
        self.killed = False

    def learn(self) -> dict[str, float]:
        """Take one gradient step."""
        if self.planted.on("critic-dead-units") and not self.killed:
            self.killed = True
            kill_units(self.q)
        return super().learn()


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
    aside: Callable[[], gym.Env[Any, Any]],
) -> list[tuple[int, float]]:  # fmt: skip
    """Train once; the log lands in `folder`."""
    Script(make, given, seed, planted, folder).run()
    return []
