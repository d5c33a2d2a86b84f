"""The innermost environment beside the storage: both forms of a step, a trainer's own rewards, steps of others."""

from types import SimpleNamespace

import pytest
import torch

from firstbreak.monitor.adapters.parts.rsl_rl.handed_on import StepsOfRunner, innermost
from tests.unit.monitor.adapters.answering import Answering

LENGTH, COPIES = 6, 4


class Env:
    """Random numbers; with `five` a step has both ends, as in Isaac Lab."""

    def __init__(self, five=False):
        self.five, self.obs = five, torch.randn(COPIES, 3)

    def step(self, actions):
        self.obs = torch.randn(COPIES, 3)
        reward, lost, limit = torch.randn(COPIES), torch.rand(COPIES) < 0.3, torch.rand(COPIES) < 0.3
        if self.five:
            return {"policy": self.obs}, reward, lost, limit, {}
        return {"policy": self.obs}, reward, (lost | limit).long(), {"time_outs": limit.float()}


class Outer:
    def __init__(self, env):
        self.env = env

    def step(self, actions):
        return self.env.step(actions)


def rollout(runner, env, scale=1.0):
    """Fill the storage as rsl_rl does, and add to the reward what is bootstrapped at a limit."""
    for t in range(LENGTH):
        storage, obs, actions = runner.alg.storage, env.obs, torch.randn(COPIES, 2)
        _, reward, done, *rest = runner.env.step(actions)
        limit = rest[0] if env.five else rest[0]["time_outs"]
        ended = done.bool() | limit.bool()
        storage.observations["policy"][t], storage.actions[t] = obs, actions
        storage.rewards[t, :, 0], storage.dones[t, :, 0] = scale * reward + 5.0 * limit.float(), ended


def watched(five=False, **more):
    torch.manual_seed(0)
    zeros = {"actions": 2, "rewards": 1, "dones": 1}
    held = {name: torch.zeros(LENGTH, COPIES, size) for name, size in zeros.items()}
    storage = SimpleNamespace(observations={"policy": torch.zeros(LENGTH, COPIES, 3)}, **held)
    env = Env(five)
    runner = SimpleNamespace(env=Outer(Outer(env)), alg=SimpleNamespace(storage=storage, **more))
    monitor = Answering()
    return runner, env, StepsOfRunner(runner, monitor), monitor


@pytest.mark.parametrize("five", [False, True])
def test_what_is_stored_is_what_the_innermost_environment_gave(five):
    runner, env, steps, monitor = watched(five)
    for _ in range(2):
        rollout(runner, env)
        found = steps.take()
        names = ("data/obs_fit", "data/action_fit", "data/reward_fit", "data/reward_gain", "data/end_kept_frac")
        assert [found[name] for name in names] == pytest.approx([1] * 5, abs=1e-5)
    rollout(runner, env, scale=3.0)
    assert steps.take()["data/reward_gain"] == pytest.approx(3)
    assert monitor.faults == []


def test_rewards_that_the_trainer_adds_to_are_left_out():
    runner, env, steps, _ = watched(rnd=object())
    rollout(runner, env)
    found = steps.take()
    assert "data/obs_fit" in found
    assert not [name for name in found if name.startswith("data/reward")]


def test_steps_that_the_storage_does_not_hold_say_nothing():
    runner, env, steps, _ = watched()
    rollout(runner, env)
    runner.env.step(torch.zeros(COPIES, 2))  # somebody else's
    assert steps.take() == {}
    rollout(runner, env)
    assert "data/obs_fit" in steps.take()


def test_the_environment_is_left_as_it_was():
    runner, env, steps, _ = watched()
    assert innermost(runner.env) is env
    steps.remove()
    assert "step" not in vars(env)
