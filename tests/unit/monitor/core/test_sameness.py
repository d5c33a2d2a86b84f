"""What is exactly alike among steps, against a slow count."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firstbreak import Monitor
from firstbreak.monitor.exchange.sameness import MOST_STEPS, Sameness
from firstbreak.monitor.world import World, watched

step = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2), st.integers(0, 3))


@given(st.lists(step, min_size=1, max_size=60))
def test_shares_are_those_of_a_slow_count(steps: list[tuple[int, int, int, int]]) -> None:
    alike = Sameness()
    for _, _, _, reward in steps:
        alike.pay([float(reward)])
    seen, acts, led = (np.array([[s[place], 7.0] for s in steps]) for place in (0, 1, 2))
    for few in (slice(None, len(steps) // 3), slice(len(steps) // 3, None)):
        alike.step(seen[few], acts[few], led[few])
    first: dict[tuple[int, int], int] = {}
    contradicted = copied = 0
    last = None
    for before, action, after, _ in steps:
        copied += after == last and after != before
        last = after
        contradicted += first.setdefault((before, action), after) != after
    assert alike.numbers() == {
        "reward/env_distinct_frac": len({s[3] for s in steps}) / len(steps),
        "env/held_frac": sum(s[0] == s[2] for s in steps) / len(steps),
        "env/copies_alike_frac": copied / len(steps),
        "env/contradicted_frac": contradicted / len(steps),
    }


def test_nothing_is_said_of_nothing_and_memory_is_bounded() -> None:
    alike = Sameness()
    assert alike.numbers() == {}
    for n in range(2 * MOST_STEPS):
        alike.pay([float(n)])
        alike.step(np.array([[float(n)]]), np.array([[0.0]]), np.array([[n + 1.0]]))
    assert alike.numbers() == {
        "reward/env_distinct_frac": 1.0,
        "env/held_frac": 0.0,
        "env/copies_alike_frac": 0.0,
        "env/contradicted_frac": 0.0,
    }


class Late(gym.Wrapper[Any, Any, Any, Any]):
    """From step 3000 on, nine steps in ten show what the step before showed."""

    count = 0
    shown: Any = None

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.count += 1
        if self.count > 3000 and self.count % 10 and self.shown is not None:
            obs = self.shown
        self.shown = obs
        return obs, reward, terminated, truncated, info

    def reset(self, **named: Any) -> Any:
        obs, info = self.env.reset(**named)
        self.shown = obs
        return obs, info


def alarms_of(env: gym.Env[Any, Any]) -> set[str]:
    monitor = Monitor(None, algorithm="DQN", clock="env_steps", time_share=float("inf"))
    world = World(monitor)
    env = watched(env, world)
    env.reset(seed=0)
    env.action_space.seed(0)
    for n in range(4500):
        if n % 500 == 0:
            monitor.log({"critic/loss": 1.0 + 0.01 * (n % 3)}, step=n)
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    monitor.close()
    assert monitor.faults == []
    return {alarm.finding.name for alarm in monitor.alarms}


def test_observations_that_are_held_are_named_and_a_world_left_alone_is_not() -> None:
    assert "observations-held" in alarms_of(Late(gym.make("Acrobot-v1")))
    assert "observations-held" not in alarms_of(gym.make("Acrobot-v1"))


class First(gym.Wrapper[Any, Any, Any, Any]):
    """Shows what the first copy shows, once the switch is on."""

    switch = False
    shown: Any = None

    def __init__(self, env: gym.Env[Any, Any], first: bool) -> None:
        super().__init__(env)
        self.first = first

    def step(self, action: Any) -> Any:
        obs, *rest = self.env.step(action)
        if self.first:
            First.shown = obs
        return (First.shown if First.switch else obs, *rest)


def alarms_of_copies(broken: bool) -> set[str]:
    """Step four copies in turn; with `broken` all show what the first does from half-way on."""
    monitor = Monitor(None, algorithm="PPO", clock="env_steps", config={"n_envs": 4}, time_share=float("inf"))
    world = World(monitor)
    copies = [watched(First(gym.make("Acrobot-v1"), n == 0), world) for n in range(4)]
    First.switch = False
    for n, env in enumerate(copies):
        env.reset(seed=n)
        env.action_space.seed(n)
    for n in range(600):
        if n % 125 == 0:
            monitor.log({"critic/loss": 1.0 + 0.01 * (n % 3)}, step=4 * n)
        First.switch = broken and n >= 300
        for env in copies:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
    monitor.close()
    assert monitor.faults == []
    return {alarm.finding.name for alarm in monitor.alarms}


def test_copies_that_show_the_first_one_are_named_and_four_of_their_own_are_not() -> None:
    assert "copies-alike" in alarms_of_copies(broken=True)
    assert "copies-alike" not in alarms_of_copies(broken=False)
