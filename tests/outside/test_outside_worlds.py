"""What is planted in the worlds and in Stable-Baselines3 does what the list says, and nothing before its time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from benchmarks.outside import stable
from benchmarks.outside.plans import faults
from benchmarks.outside.record import NEVER
from benchmarks.outside.rsl import Hover
from benchmarks.outside.switches import Planted, Truth
from benchmarks.outside.worlds import DELAY, Between, Grid, Kept

NOW, LATER = 0, NEVER


def planted(name: str, at: int = NOW) -> Planted:
    return Planted(name, at, Truth())


class Counting(gym.Env[Any, Any]):
    """Pays the number of the step; shows the action that reached it."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gym.spaces.Box(-1, 1, (1,), np.float32)
        self.count, self.length = 0, 60

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(4, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += 1
        shown = np.array([self.count, action[0], self.count, -self.count], np.float32)
        return shown, float(self.count), False, self.count >= self.length, {}


def play(name: str, at: int = NOW, steps: int = 30) -> tuple[list[Any], Truth]:
    """Step a counting world through what is planted."""
    switch = planted(name, at)
    env = Between(Kept(Counting(), switch.truth), switch, seed=1)
    env.reset()
    rows: list[Any] = []
    for _ in range(steps):
        row = env.step(np.array([0.5], np.float32))
        rows.append(row)
        if row[2] or row[3]:
            env.reset()
    return rows, switch.truth


WORLDS = (
    "action-scale-lost", "actuator-reversed", "episodes-cut", "time-limit-as-terminal", "sensor-stuck",
    "observation-in-other-units", "reward-delayed", "reward-x1000", "cost-as-reward", "reward-sign-only", "reward-gone",
    "reward-nan",
)  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_nothing_is_changed_before_its_time_and_the_true_return_never(name: str) -> None:
    clean, _ = play("", steps=200)
    early, truth = play(name, LATER, steps=200)
    assert all(np.array_equal(a[0], b[0]) and a[1:4] == b[1:4] for a, b in zip(clean, early, strict=True))
    assert [score for _, score in truth.episodes] == [60 * 61 / 2] * 3
    late, _ = play(name, NOW, steps=400)
    assert not all(
        np.array_equal(a[0], b[0]) and a[1:4] == b[1:4] for a, b in zip(play("", steps=400)[0], late, strict=True)
    )


def test_rewards_are_changed_as_told() -> None:
    assert [row[1] for row in play("reward-delayed")[0]] == [0.0] * DELAY + [float(n) for n in range(1, 31 - DELAY)]
    assert play("reward-x1000")[0][4][1] == 5000.0
    assert play("cost-as-reward")[0][4][1] == -5.0
    assert play("reward-sign-only")[0][4][1] == 1.0
    assert play("reward-gone")[0][4][1] == 0.0
    nan = [np.isnan(row[1]) for row in play("reward-nan", steps=4000)[0]]
    assert 0.001 < np.mean(nan) < 0.02


def test_actions_and_observations_are_changed_as_told() -> None:
    assert play("action-scale-lost")[0][0][0][1] == pytest.approx(0.05)
    assert play("actuator-reversed")[0][0][0][1] == pytest.approx(-0.5)
    assert play("observation-in-other-units")[0][2][0][0] == pytest.approx(3 * 255)
    stuck = [row[0] for row in play("sensor-stuck", at=10)[0]]
    assert stuck[-1][0] == 30
    assert stuck[-1][2] == pytest.approx(stuck[10][2])


def test_ends_of_episodes_are_changed_as_told() -> None:
    late = play("time-limit-as-terminal", steps=60)[0][-1]
    assert (late[2], late[3]) == (True, False)
    rows, truth = play("episodes-cut", steps=400)
    assert sum(row[2] for row in rows) >= 5
    assert len(truth.episodes) >= 5  # cut ones are counted, too


def test_switches_of_stable_baselines_do_what_they_say() -> None:
    layer = torch.nn.Linear(2, 2)
    model: Any = SimpleNamespace(
        lr_schedule=lambda _: 0.001, policy=layer, actor=torch.nn.Linear(2, 2), ent_coef=0.0,
        target_update_interval=10, observation_space=SimpleNamespace(shape=(3,)),
        env=SimpleNamespace(obs_rms=None, training=True), replay_buffer=SimpleNamespace(add=None),
    )  # fmt: skip
    for change in stable.MIDWAY.values():
        change(model)
    assert model.lr_schedule(0.5) == pytest.approx(0.1)
    assert torch.isnan(layer.weight).any()
    assert model.actor.optimizer.param_groups[0]["params"][0] is not next(model.actor.parameters())
    assert model.target_update_interval > 10**6
    assert model.ent_coef == 2.0
    assert not model.env.training
    assert float(model.env.obs_rms.mean.sum()) == 0.0
    assert model.replay_buffer.add(1, 2) is None
    assert stable.schedule("rising 0.1")(1.0) == 0.0
    assert stable.schedule("linear 0.1")(1.0) == pytest.approx(0.1)


def test_an_evaluation_hands_over_raw_observations_where_it_forgets_the_normaliser() -> None:
    env = VecNormalize(DummyVecEnv([Counting]))
    env.obs_rms.mean += 10.0
    told: list[float] = []
    for name in ("", "evaluation-not-normalised"):
        evaluation = stable.Evaluation(Counting, 10, planted(name))
        evaluation.model = SimpleNamespace(get_env=lambda: env)  # type: ignore[assignment]
        told.append(float(evaluation.seen(np.zeros(4, np.float32))[0]))
    assert told[0] == pytest.approx(-10.0, abs=1e-3)
    assert told[1] == 0.0


@pytest.mark.parametrize("name", ["actuator-reversed", "sensor-offset", "reward-x1000", "cost-as-reward"])
def test_the_many_worlds_are_changed_as_told(name: str) -> None:
    push = torch.full((64, 1), 0.5)
    clean, wrong = (Hover(planted(n), Truth(), 3) for n in ("", name))
    (seen, paid, *_), (other_seen, other_paid, *_) = clean.step(push), wrong.step(push)
    same_view = torch.equal(seen["policy"], other_seen["policy"])
    assert not (same_view and torch.equal(paid, other_paid))


def test_every_change_of_the_code_that_is_listed_is_tried_here_or_is_a_switch() -> None:
    text = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_outside_*.py"))
    for fault in faults().values():
        if fault.planted:
            assert f'"{fault.planted}"' in text or fault.planted in stable.MIDWAY, fault.planted


def test_the_walker_is_paid_at_its_goal_only() -> None:
    env = Grid()
    env.reset(seed=1)
    env.place = np.array([4, 3])
    _, paid, over, _, _ = env.step(0)
    assert over
    assert paid == pytest.approx(0.99)
