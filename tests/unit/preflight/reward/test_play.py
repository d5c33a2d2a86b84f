"""Rewards of an environment under random play, here and in a child process."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.finding import Severity
from firstbreak.isolation import Limits
from firstbreak.preflight.reward.api import inspect_reward
from firstbreak.preflight.reward.play import record
from firstbreak.preflight.reward.sample import RewardSample


class Walk(gymnasium.Env[Any, Any]):
    """A point that the action pushes, paid for being near 0; its faults are options."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, fault: str = "") -> None:
        self.fault, self.left = fault, 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x, self.t = float(self.np_random.normal()), 0
        return np.array([self.x]), {}

    def step(self, action: Any) -> Any:
        self.x, self.t = 0.9 * self.x + 0.5 * float(action[0]), self.t + 1
        near, effort = -(self.x**2), -0.05 * float(action[0]) ** 2
        reward = near + effort
        if self.fault == "clock":
            reward = float(np.sin(self.t))
        if self.fault == "memory":
            reward, self.left = reward + self.left, 1.0
        if self.fault == "raises" and self.t == 7:
            raise RuntimeError("no such sensor")
        info = {"reward_near": near, "reward_effort": effort, "distance": abs(self.x), "seen": 3}
        return np.array([self.x]), reward, False, self.t >= 30, info


WALK = Walk()


def healthy() -> Walk:
    return Walk()


class Old:
    """The same walk behind the interface of gym before 0.26."""

    def __init__(self) -> None:
        self.env = Walk()
        self.observation_space, self.action_space = self.env.observation_space, self.env.action_space

    def reset(self, seed: int | None = None) -> Any:
        return self.env.reset(seed=seed)[0]

    def step(self, action: Any) -> Any:
        seen, reward, _, truncated, info = self.env.step(action)
        return seen, reward, truncated, {**info, "TimeLimit.truncated": truncated}


class Pair:
    """Two walks as the parallel environment of two agents."""

    possible_agents = ("one", "two")

    def __init__(self) -> None:
        self.walks = {name: Walk() for name in self.possible_agents}
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        return self.walks[agent].observation_space

    def action_space(self, agent: str) -> Any:
        return self.walks[agent].action_space

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents = list(self.possible_agents)
        told = {name: walk.reset(seed=seed) for name, walk in self.walks.items()}
        return {name: seen for name, (seen, _) in told.items()}, {name: {} for name in told}

    def step(self, actions: Any) -> Any:
        told = {name: self.walks[name].step(action) for name, action in actions.items()}
        return tuple({name: answer[i] for name, answer in told.items()} for i in range(5))

    def close(self) -> None:
        pass


def raises() -> Walk:
    return Walk("raises")


def names(found: Any) -> set[str]:
    return {f.name for f in found.findings if f.severity is not Severity.INFO}


def test_components_and_metric_come_from_info() -> None:
    made = record(healthy, metric="distance", steps=300)
    assert isinstance(made, RewardSample)
    assert set(made.components) == {"reward_near", "reward_effort"}
    assert set(made.metric) == {"distance"}
    assert sum(made.components.values()) == pytest.approx(made.rewards)


def test_a_healthy_environment_is_healthy() -> None:
    found = inspect_reward(healthy, metric=lambda x: -abs(float(x[0])), steps=1500)
    assert found.verdict is Verdict.HEALTHY
    assert found.errors == ()
    assert found.details["held_out_r2"]["now"]["r2"] > 0.95
    assert sum(found.details["histogram"]["counts"]) > 1400


def test_a_reward_from_the_clock_and_one_that_remembers() -> None:
    assert "reward-ignores-agent" in names(inspect_reward(lambda: Walk("clock"), steps=300))
    assert "reward-remembers-past" in names(inspect_reward(lambda: Walk("memory"), steps=300))


def test_a_child_that_raises_is_told_with_its_call() -> None:
    found = inspect_reward(f"{__file__}:raises", steps=300, limits=Limits(seconds=60.0))
    assert found.verdict is Verdict.UNDECIDED
    assert "step after 7 actions" in found.notes[0]
    assert found.details["ending"]["how"] == "raised"


def test_a_child_gives_what_this_process_gives() -> None:
    here = inspect_reward(f"{__file__}:healthy", steps=300, isolate=False)
    there = inspect_reward(f"{__file__}:healthy", steps=300)
    assert there.clear == here.clear
    assert there.details["reward"]["mean"] == pytest.approx(here.details["reward"]["mean"])


def test_an_environment_of_the_old_interface_is_played_like_a_new_one() -> None:
    old, new = record(Old, steps=200), record(healthy, steps=200)
    assert old.rewards == pytest.approx(new.rewards)
    assert list(old.truncated) == list(new.truncated)
    assert set(old.components) == {"reward_near", "reward_effort"}


def test_several_copies_or_agents_are_played_as_one() -> None:
    vector = record(lambda: gymnasium.vector.SyncVectorEnv([healthy] * 3), steps=90)
    assert len(vector.rewards) == 90
    assert list(np.flatnonzero(vector.truncated)) == [29, 59, 89]
    pair, alone = record(Pair, steps=90), record(healthy, steps=90)
    assert list(np.flatnonzero(pair.truncated)) == [29, 59, 89]
    assert set(pair.components) == set(alone.components)


def test_what_is_no_environment_is_refused() -> None:
    with pytest.raises(InputError, match="no environment"):
        record(dict, steps=10)
    with pytest.raises(InputError, match="not a factory"):
        record(f"{__file__}:WALK", steps=10)


def test_cartpole_is_healthy() -> None:
    found = inspect_reward("CartPole-v1", steps=600, isolate=False)
    assert found.verdict is Verdict.HEALTHY
    assert found.findings == ()


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="never holds"):
        record(healthy, components=("reward_far",), steps=50)
    with pytest.raises(InputError):
        inspect_reward("NoSuchEnvironment-v0", isolate=False)
    with pytest.raises(UnknownNameError):
        inspect_reward(f"{__file__}:unhealthy", isolate=False)
    with pytest.raises(InputError):
        inspect_reward(3.0)
