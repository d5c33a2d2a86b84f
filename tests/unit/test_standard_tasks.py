"""What is said of standard tasks against the tasks themselves."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from firstbreak import vocabulary
from firstbreak.vocabulary import standard_task

FOLDER = Path(vocabulary.__file__).parent
TASKS = tuple(tomllib.loads((FOLDER / "standard_tasks.toml").read_text("utf-8")))
PLAYED = tuple(tomllib.loads((FOLDER / "random_play.toml").read_text("utf-8")))
STEPS = 2_000
MUJOCO = ("Inverted", "Reacher", "Pusher")
"""Needs MuJoCo, which only the full environment has."""


def rollout(env_id: str) -> tuple[list[float], list[float]]:
    """Return the pay of single steps [about STEPS] and the returns of whole episodes, of actions drawn evenly."""
    env = gymnasium.make(env_id)
    env.action_space.seed(3)
    paid: list[float] = []
    returns: list[float] = []
    while len(paid) < STEPS:
        env.reset(seed=len(returns))
        begun, over = len(paid), False
        while not over and len(paid) < 5 * STEPS:
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            paid.append(float(reward))
            over = terminated or truncated
        if over:
            returns.append(sum(paid[begun:]))
    env.close()
    return paid, returns


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "env_id", [pytest.param(name, marks=pytest.mark.full) if name.startswith(MUJOCO) else name for name in PLAYED]
)
def test_no_step_and_no_episode_pays_what_is_said_to_be_impossible(env_id: str) -> None:
    task = standard_task(env_id)
    assert task is not None
    paid, returns = rollout(env_id)
    assert task.pays[0] <= min(paid) <= max(paid) <= task.pays[1]
    assert all(task.returns[0] - 1e-6 <= earned <= task.returns[1] + 1e-6 for earned in returns)


def test_random_play_earns_what_the_table_says() -> None:
    task = standard_task("CartPole-v1")
    assert task is not None
    assert task.random is not None
    returns = np.array(rollout("CartPole-v1")[1])
    assert abs(returns.mean() - task.random.mean) < 5 * task.random.sd / np.sqrt(returns.size)


def test_the_tool_that_measures_says_the_same_again() -> None:
    spec = importlib.util.spec_from_file_location("random_play", Path(__file__).parents[2] / "tools" / "random_play.py")
    assert spec is not None
    assert spec.loader is not None
    tool: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    task = standard_task("CartPole-v1")
    assert task is not None
    assert task.random is not None
    assert tool.returns("CartPole-v1").mean() == pytest.approx(task.random.mean, rel=1e-5)


def test_other_names_and_other_versions_are_not_known() -> None:
    assert all(standard_task(env_id) is not None for env_id in TASKS)
    assert standard_task("CartPole-v9") is None
    assert standard_task("my/CartPole-v1") is None
