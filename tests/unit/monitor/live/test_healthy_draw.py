"""The draw of healthy trainings: the same name draws the same, what is drawn can be made, and who counts as healthy."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import healthy_trainers
from healthy import Kept, gained, healthy, kept, read, report
from healthy_settings import SPACE, STEPS, TRAINERS, Ordinary, ordinary
from healthy_tasks import CHUNK, CONTINUOUS, DISCRETE, OWN, SHIFT, Around, Told, made
from worlds import Truth


def test_a_name_draws_the_same_trainings_and_another_name_others() -> None:
    first, again, other = ([ordinary(name, i) for i in range(40)] for name in ("one", "one", "two"))
    assert first == again
    assert first != other


def test_a_draw_holds_every_trainer_and_only_tasks_that_it_can_train() -> None:
    runs = [ordinary("one", i) for i in range(300)]
    assert {run.trainer for run in runs} == set(TRAINERS) == set(SPACE) == set(STEPS)
    for run in runs:
        if run.trainer in ("sb3_dqn", "dqn"):
            assert run.task in DISCRETE
        if run.trainer in ("sb3_sac", "sb3_td3", "sac"):
            assert run.task in CONTINUOUS
        if run.trainer != "grpo":
            assert run.around.limit == 0 or run.task not in OWN


HERE = [t for t in (*DISCRETE, *CONTINUOUS) if not t.startswith(("Lunar", "Inverted", "Reacher", "Swimmer"))]
"""Tasks that need neither Box2D nor MuJoCo."""


@pytest.mark.parametrize("task", HERE)
def test_every_task_shows_single_precision_vectors_whatever_the_normaliser(task: str) -> None:
    env = made(task, Around(limit=20))
    obs, _ = env.reset(seed=0)
    assert np.issubdtype(env.observation_space.dtype, np.floating)
    assert np.asarray(obs).ndim == 1


class Steady(gym.Env[Any, Any]):
    """Pays 1, 2, 3 ... and ends after four steps, or never."""

    def __init__(self, ends: bool = True) -> None:
        self.observation_space, self.action_space = gym.spaces.Box(-1, 1, (1,)), gym.spaces.Discrete(2)
        self.ends = ends

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.count = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += 1
        return np.zeros(1, np.float32), float(self.count), self.ends and self.count == 4, False, {}


def paid(reward: str, steps: int = 4) -> tuple[list[float], Truth]:
    truth = Truth()
    env = Told(Steady(), truth, reward, seed=0)
    env.reset()
    return [float(env.step(0)[1]) for _ in range(steps)], truth


@pytest.mark.parametrize(
    ("reward", "expected"),
    [("plain", [1, 2, 3, 4]), ("x10", [10, 20, 30, 40]), ("at-end", [0, 0, 0, 10]),
     ("shifted", [1 - SHIFT, 2 - SHIFT, 3 - SHIFT, 4 - SHIFT])],
)  # fmt: skip
def test_rewards_are_paid_as_drawn_and_the_truth_is_the_task_s_own(reward: str, expected: list[float]) -> None:
    given, truth = paid(reward)
    assert given == expected
    assert truth.episodes == [(4, 10.0)]


def test_a_noisy_reward_scatters_round_the_task_s_own() -> None:
    given, truth = paid("noisy")
    assert given != [1, 2, 3, 4]
    assert given == pytest.approx([1, 2, 3, 4], abs=2)
    assert truth.episodes == [(4, 10.0)]


def test_where_no_episode_ends_a_stretch_of_steps_counts_as_one() -> None:
    truth = Truth()
    env = Told(Steady(ends=False), truth, "plain", seed=0, endless=True)
    env.reset()
    for _ in range(2 * CHUNK):
        env.step(0)
    assert [steps for steps, _ in truth.episodes] == [CHUNK, 2 * CHUNK]


def run_of(returns: list[float], died: str = "", alarms: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {
        "name": "x", "died": died, "episodes": [(10 * i, r) for i, r in enumerate(returns)], "alarms": list(alarms),
        "rows": [[0, {}]], "cpu_seconds": 60.0,
    }  # fmt: skip


RISES = [float(i % 3) for i in range(20)] + [10.0 + i % 3 for i in range(30)]


@pytest.mark.parametrize(
    ("returns", "died", "expected"),
    [
        (RISES, "", True),
        (RISES + [1.0] * 20, "", False),
        (RISES, "ValueError: x", False),
        ([float(i % 3) for i in range(50)], "", True),
        ([], "", True),
    ],
)
def test_healthy_is_who_kept_four_fifths_of_what_was_gained_beyond_chance(
    returns: list[float], died: str, expected: bool
) -> None:
    assert healthy(run_of(returns, died)) is expected


def test_what_was_kept_and_gained() -> None:
    assert kept(run_of(RISES)) == pytest.approx(1.0, abs=0.1)
    assert gained(run_of(RISES)) > 10
    assert kept(run_of([])) == 1.0
    assert math.isclose(gained(run_of([])), 0.0)


def test_the_report_counts_healthy_trainings_with_an_alarm_apart_from_others() -> None:
    alarm = {"name": "kl-overshoot", "severity": "error", "at": 5.0}
    runs = [run_of(RISES), run_of(RISES, alarms=(alarm,)), run_of(RISES + [1.0] * 20, alarms=(alarm,))]
    text = report(runs, again=False)
    assert "**1 of 2 healthy trainings alarmed** (50.0%)" in text
    assert "1 of 1 others alarmed" in text
    assert "x: kept 100% of a gain" in text


def test_a_training_is_made_watched_and_its_true_returns_are_kept(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(STEPS, "sb3_a2c", 400)
    run = next(
        r for r in (ordinary("one", i) for i in range(500)) if r.trainer == "sb3_a2c" and r.task in OWN and r.normalised
    )
    truth, monitor = Truth(), Kept(**healthy_trainers.monitored(run))
    with monitor:
        healthy_trainers.train(run, monitor, None, truth)
    assert truth.steps >= 400
    assert truth.episodes
    assert monitor.given
    assert monitor.faults == []
    assert read(tmp_path, "one") == []


def test_a_reference_trainer_gets_the_settings_that_were_drawn() -> None:
    run = Ordinary(0, "ppo", "Follow", 3, {"learning_rate": 1e-3, "num_envs": 2})
    told = healthy_trainers.monitored(run)
    assert told["algorithm"] == "PPO"
    assert told["config"]["learning_rate"] == 1e-3
    assert told["config"]["num_envs"] == 2
