"""What a loop of one's own is fed is what a world saw, however a vector environment begins anew; mistakes show."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.fed import Fed
from firstbreak.monitor.world import World, watched

STEPS, COPIES, UPDATES, BROKEN = 32, 2, 24, 12
FAULTS = {
    "rewards three times as large": ("rewards", lambda r: 3 * r, "rewards-resized-on-the-way"),
    "rewards of the copy beside": ("rewards", lambda r: r[:, ::-1], "rewards-not-as-paid"),
    "ends dropped": ("dones", np.zeros_like, "ends-not-stored"),
    "entries of observations swapped": ("observations", lambda o: o[..., ::-1], "observations-not-as-given"),
    "actions of the step before": ("actions", lambda a: np.roll(a, 1, 0), "actions-not-as-stored"),
}


class Drift(gym.Env):
    """Two independent numbers that go their own ways, and a reward that follows the first; ends by chance."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.normal(size=2)
        return self.at.copy(), {}

    def step(self, action):
        self.at = 0.9 * self.at + 0.1 * (int(action) - 1) + self.np_random.normal(size=2) * [1, 4]
        return self.at.copy(), float(self.at[0]), bool(self.np_random.random() < 0.05), False, {}


def of_one(part, late=False):
    """Swap the entries of one copy's observations, or take rewards a step late."""
    part = part.copy()
    part[:, 0] = np.roll(part[:, 0], 1, 0) if late else part[:, 0, ::-1]
    return part


ONE_COPY = {
    "entries of observations swapped in one copy": ("observations", of_one, "observations-not-as-given"),
    "rewards of the step before in one copy": ("rewards", lambda r: of_one(r, late=True), "rewards-not-as-paid"),
}


def train(monitor, mode, fault=None, normalised=False, per_step=False, own=False):
    """A loop in CleanRL's way, with random actions; from update `BROKEN` on it mistreats its own rollout."""
    world, fed = World(monitor), Fed(monitor)
    envs = SyncVectorEnv([lambda: wrapped(watched(Drift(), world), own=own)] * COPIES, autoreset_mode=mode)
    envs = gym.wrappers.vector.NormalizeObservation(envs) if normalised else envs
    obs, _ = envs.reset(seed=0)
    rng = np.random.default_rng(0)
    for update in range(UPDATES):
        kept = {"observations": [], "actions": [], "rewards": [], "dones": []}
        for _ in range(STEPS):
            action = rng.integers(0, 3, COPIES)
            before = obs
            obs, reward, terminated, truncated, _ = envs.step(action)
            for part, value in zip(kept.values(), (before, action, reward, terminated | truncated), strict=True):
                part.append(value)
        held = {name: np.stack(part) for name, part in kept.items()}
        if fault is not None and update >= BROKEN:
            name, change, _ = fault
            held[name] = change(held[name])
        if per_step:
            for place in range(STEPS):
                fed.step(**{name: part[place] for name, part in held.items()})
        else:
            fed.rollout(**{name: torch.tensor(np.ascontiguousarray(part)) for name, part in held.items()})
        monitor.log({"policy/loss": float(rng.normal())}, step=(update + 1) * STEPS * COPIES, clock="env_steps")
    return monitor


def wrapped(env, own):
    """A copy as CleanRL makes it for continuous actions, with statistics of its own."""
    return gym.wrappers.NormalizeReward(gym.wrappers.NormalizeObservation(env)) if own else env


SAME, NEXT = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP


@pytest.mark.parametrize(("mode", "normalised"), [(SAME, False), (NEXT, False), (NEXT, True)])
def test_what_a_sound_loop_is_fed_is_what_was_exchanged(mode, normalised) -> None:
    monitor = train(Monitor(algorithm="PPO"), mode, normalised=normalised)
    assert not monitor.faults
    assert not [a for a in monitor.alarms if "data/" in a.finding.metric]
    for name in ("data/obs_fit", "data/reward_fit", "data/reward_gain", "data/action_fit", "data/end_kept_frac"):
        assert monitor.latest[name] == pytest.approx(1, abs=0.02 if normalised else 1e-6), name


@pytest.mark.parametrize("mode", [SAME, NEXT])
def test_copies_with_statistics_of_their_own_follow_each_by_its_own(mode) -> None:
    monitor = train(Monitor(algorithm="PPO"), mode, own=True)
    assert not monitor.faults
    assert not monitor.alarms
    assert monitor.latest["data/obs_copy_fit"] > 0.98
    assert monitor.latest["data/reward_copy_fit"] > 0.98


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("fault", ONE_COPY.values(), ids=ONE_COPY)
def test_one_copy_that_is_mistreated_is_named(fault, own) -> None:
    monitor = train(Monitor(algorithm="PPO"), SAME, fault, own=own)
    assert not monitor.faults
    assert fault[2] in {alarm.finding.name for alarm in monitor.alarms}
    assert min(alarm.at for alarm in monitor.alarms) > BROKEN * STEPS * COPIES


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_mistake_between_environment_and_update_is_named(fault) -> None:
    monitor = train(Monitor(algorithm="PPO"), SAME, fault)
    assert not monitor.faults
    assert fault[2] in {alarm.finding.name for alarm in monitor.alarms}
    assert min(alarm.at for alarm in monitor.alarms) > BROKEN * STEPS * COPIES


def test_steps_may_come_one_by_one() -> None:
    fault = FAULTS["actions of the step before"]
    assert not train(Monitor(algorithm="DQN"), SAME, per_step=True).alarms
    monitor = train(Monitor(algorithm="DQN"), SAME, fault, per_step=True)
    assert [alarm.finding.name for alarm in monitor.alarms] == [fault[2]]


@pytest.mark.parametrize("kept", [lambda a: a, lambda a: np.eye(3)[a]], ids=["numbers", "one-hot"])
def test_one_copy_needs_no_second_axis(kept) -> None:
    monitor = Monitor(algorithm="A2C")
    world, fed = World(monitor), Fed(monitor)
    env = watched(Drift(), world)
    obs, _ = env.reset(seed=0)
    for update in range(3):
        rows = []
        for _ in range(20):
            before, (obs, reward, *_) = obs, env.step(1)
            rows.append((before, 1, reward, False))
        seen, actions, rewards, dones = (np.array(part) for part in zip(*rows, strict=True))
        fed.rollout(observations=seen, actions=kept(actions), rewards=rewards, dones=dones)
        monitor.log({"policy/loss": 0.0}, step=20 * (update + 1))
    assert monitor.latest["data/obs_fit"] == pytest.approx(1)
    assert monitor.latest["data/action_fit"] == 1


def test_nothing_is_said_where_the_world_saw_other_steps() -> None:
    monitor = Monitor(algorithm="PPO")
    world, fed = World(monitor), Fed(monitor)
    env = watched(Drift(), world)
    env.reset(seed=0)
    for update in range(3):
        for _ in range(40):
            env.step(0)
        fed.rollout(rewards=np.zeros(20), dones=np.zeros(20))  # half of the steps: a frame skip inside of the loop
        monitor.log({"policy/loss": 0.0}, step=20 * (update + 1))
    assert not [name for name in monitor.latest if name.startswith("data/")]


def test_what_does_not_belong_together_is_a_fault_of_the_monitor_and_no_error() -> None:
    monitor = Monitor(algorithm="PPO")
    World(monitor)
    Fed(monitor).rollout(rewards=np.zeros(3), dones=np.zeros(4))
    assert "rewards hold 3 steps, dones 4" in monitor.faults[0]


def test_without_a_world_it_says_so_once() -> None:
    monitor = Monitor(algorithm="PPO")
    fed = Fed(monitor)
    for _ in range(3):
        fed.rollout(rewards=np.zeros(3), dones=np.zeros(3))
    assert len(monitor.faults) == 1
    assert "World(monitor)" in monitor.faults[0]
