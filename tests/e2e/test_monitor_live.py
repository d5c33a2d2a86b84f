"""A real training in which the environment changes half-way: the monitor names the link; its twin stays quiet."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
import torch

from firstbreak import Monitor

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]
STEPS, FAULT_AT = 16_384, 8_192


class Changing(gym.Wrapper[Any, Any, Any, Any]):
    """Flips the reward or the action after a while."""

    def __init__(self, env: Any, fault: str) -> None:
        super().__init__(env)
        self.fault, self.steps = fault, 0

    def step(self, action: Any) -> Any:
        self.steps += 1
        broken = self.steps > FAULT_AT
        if broken and self.fault == "actions":
            action = 1 - action
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, -float(reward) if broken and self.fault == "reward" else reward, terminated, truncated, info


@pytest.mark.parametrize(
    ("fault", "link", "rule"),
    [
        ("reward", "reward_signal", "reward-unforeseen"),
        ("actions", "environment_data", "dynamics-changed"),
        ("", "", ""),
    ],
)
def test_the_link_that_changed_is_named_and_a_twin_stays_quiet(fault: str, link: str, rule: str) -> None:
    from stable_baselines3 import PPO

    from firstbreak.monitor.adapters.sb3 import MonitorCallback
    from firstbreak.monitor.world import World, watched

    torch.set_num_threads(1)
    monitor = Monitor(None, time_share=float("inf"))
    world = World(monitor)
    env = watched(Changing(gym.make("CartPole-v1"), fault), world)
    PPO("MlpPolicy", env, n_steps=512, seed=0, device="cpu").learn(STEPS, callback=MonitorCallback(monitor))
    monitor.close()
    assert monitor.faults == []
    assert all(alarm.at > FAULT_AT for alarm in monitor.alarms)
    if not fault:
        assert monitor.alarms == []
        return
    first = monitor.alarms[0]
    assert (str(first.finding.link), first.finding.name) == (link, rule)
    assert first.at <= FAULT_AT + 64, "in an early row"
