"""The script `ddpg_continuous_action`, as the fourth list has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym

from benchmarks.outside.fourth.actors import Ddpg
from benchmarks.outside.single.actors import COMMON
from benchmarks.outside.switches import Planted

DEFAULTS: dict[str, Any] = {
    **COMMON,
    "adam_eps": 1e-8,
    "total_timesteps": 5000,
    "exploration_noise": 0.1,
}


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
    aside: Callable[[], gym.Env[Any, Any]],
) -> list[tuple[int, float]]:  # fmt: skip
    """Train once; the log lands in `folder`."""
    Ddpg(make, {**DEFAULTS, **given}, seed, planted, folder).run()
    return []
