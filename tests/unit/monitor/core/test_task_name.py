"""The monitor notes which registered task an environment is, and which wrappers may change what it pays."""

from __future__ import annotations

from typing import Any

import pytest

gym: Any = pytest.importorskip("gymnasium", reason="Gymnasium is in the development environment only")

from firstbreak.monitor.core import Monitor  # noqa: E402
from firstbreak.monitor.task_name import MOST_WRAPPERS, task_of  # noqa: E402
from firstbreak.monitor.world import World, watched  # noqa: E402


class Turned(gym.RewardWrapper):
    def reward(self, reward: float) -> float:
        return -reward


class Stepping(gym.Wrapper):
    def step(self, action: Any) -> Any:
        return self.env.step(action)


class Seeing(gym.ObservationWrapper):
    def observation(self, observation: Any) -> Any:
        return observation


def cart() -> Any:
    return gym.make("CartPole-v1")


def test_what_gymnasium_puts_around_a_task_raises_no_doubt() -> None:
    assert task_of(cart()) == {"env_id": "CartPole-v1"}
    assert task_of(gym.wrappers.RecordEpisodeStatistics(Seeing(cart()))) == {"env_id": "CartPole-v1"}


def test_wrappers_that_may_pay_otherwise_are_named_outermost_first() -> None:
    assert task_of(Stepping(Turned(cart()))) == {"env_id": "CartPole-v1", "env_wrappers": "Stepping, Turned"}
    scaled = gym.wrappers.TransformReward(cart(), float)
    assert task_of(scaled) == {"env_id": "CartPole-v1", "env_wrappers": "TransformReward"}
    assert task_of(gym.wrappers.NormalizeReward(cart()))["env_wrappers"] == "NormalizeReward"


def test_an_environment_of_ones_own_and_no_environment_have_no_name() -> None:
    class Own(gym.Env):
        pass

    assert task_of(Own()) == task_of(object()) == task_of(None) == {}


def test_a_wrapper_around_itself_ends() -> None:
    loop = Stepping(cart())
    loop.env = loop
    loop._cached_spec = cart().spec
    assert task_of(loop)["env_wrappers"].count("Stepping") == MOST_WRAPPERS


@pytest.mark.parametrize(
    ("said", "known"),
    [({}, "CartPole-v1"), ({"env_id": "MyCart-v0"}, "MyCart-v0"), ({"env": "MyCart-v0"}, "MyCart-v0")],
)
def test_what_the_settings_say_of_the_task_is_not_replaced(said: dict[str, str], known: str) -> None:
    monitor = Monitor(None, algorithm="PPO", config=said)
    watched(Stepping(cart()), World(monitor))
    assert not monitor.faults
    assert monitor.run_log().config["env_id"] == known
