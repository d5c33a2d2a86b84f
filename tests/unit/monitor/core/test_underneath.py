"""What layers around a standard task change is found by playing the first episodes again."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gym: Any = pytest.importorskip("gymnasium", reason="Gymnasium is in the development environment only")

from firstbreak.monitor.core import Monitor  # noqa: E402
from firstbreak.monitor.exchange.layers import PLAIN, Episode, replay  # noqa: E402
from firstbreak.monitor.exchange.underneath import Underneath  # noqa: E402
from firstbreak.monitor.world import World, watched  # noqa: E402


class Layer(gym.Wrapper):
    """A layer of one's own that changes nothing."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.last, info = self.env.reset(**kwargs)
        return self.see(self.last), info

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = self.env.step(self.act(action))
        return self.see(obs), self.pay(float(reward)), self.end(terminated), truncated, info

    def act(self, action: Any) -> Any:
        return action

    def see(self, obs: Any) -> Any:
        return obs

    def pay(self, reward: float) -> float:
        return reward

    def end(self, terminated: bool) -> bool:
        return terminated


class Negated(Layer):
    def pay(self, reward: float) -> float:
        return -0.5 * reward


class Scaled(Layer):
    def pay(self, reward: float) -> float:
        return 0.01 * reward


class Late(Layer):
    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.coming = deque([0.0] * 7)

    def pay(self, reward: float) -> float:
        self.coming.append(reward)
        return self.coming.popleft()


class Level(Layer):
    def pay(self, reward: float) -> float:
        return 1.0


class Weak(Layer):
    def act(self, action: Any) -> Any:
        return (0.15 * np.asarray(action)).astype(np.float32)


class Turned(Layer):
    def act(self, action: Any) -> Any:
        return -np.asarray(action)


class Exchanged(Layer):
    def act(self, action: Any) -> Any:
        return 1 - int(action)


class Blind(Layer):
    def see(self, obs: Any) -> Any:
        seen = np.array(obs)
        seen[1] = 0.0
        return seen


class Noisy(Layer):
    chance = np.random.default_rng(0)

    def see(self, obs: Any) -> Any:
        return (np.asarray(obs) + self.chance.normal(0, 0.1, len(obs))).astype(np.float32)


class Holding(Layer):
    held: Any = None
    count = 0

    def see(self, obs: Any) -> Any:
        self.count += 1
        if self.held is None or self.count % 3 == 0:
            self.held = obs
        return self.held


class Endless(Layer):
    def end(self, terminated: bool) -> bool:
        return False


class Skipping(Layer):
    def step(self, action: Any) -> Any:
        total = 0.0
        for _ in range(4):
            obs, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return obs, total, terminated, truncated, info


class Falling(Exception):
    """A task whose copies fail."""


def looked(tmp_path: Path, task: str, layer: Callable[[Any], Any] | None, steps: int = 400) -> dict[str, float]:
    """Play at random and return what the monitor found between task and trainer."""
    inner = gym.make(task)
    with Monitor(tmp_path, algorithm="PPO", clock="env_steps") as monitor:
        env = watched(inner if layer is None else layer(inner), World(monitor))
        env.action_space.seed(0)
        env.reset(seed=0)
        for _ in range(steps):
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
        config = monitor.run_log().config
    return {name: value for name, value in config.items() if name.startswith("layers_")}


@pytest.mark.parametrize(
    ("task", "layer", "name", "value"),
    [
        ("Pendulum-v1", Negated, "layers_reward_gain", -0.5),
        ("CartPole-v1", Negated, "layers_reward_gain", -0.5),
        ("CartPole-v1", Scaled, "layers_reward_gain", 0.01),
        ("Pendulum-v1", Late, "layers_reward_lag", 7),
        ("CartPole-v1", Late, "layers_reward_lag", 7),
        ("Pendulum-v1", Level, "layers_reward_constant", 1.0),
        ("Pendulum-v1", Weak, "layers_action_reach", 0.15),
        ("MountainCarContinuous-v0", Weak, "layers_action_reach", 0.15),
        ("Pendulum-v1", Turned, "layers_action_reach", -1.0),
        ("CartPole-v1", Exchanged, "layers_action_swapped", 1.0),
        ("CartPole-v1", Blind, "layers_hidden", 1),
        ("Pendulum-v1", Holding, "layers_repeated", 2 / 3),
        ("CartPole-v1", Skipping, "layers_frames", 4),
        ("Acrobot-v1", Skipping, "layers_frames", 4),
    ],
)
def test_what_one_layer_changes_is_named_and_nothing_else(
    tmp_path: Path, task: str, layer: Callable[[Any], Any], name: str, value: float
) -> None:
    found = looked(tmp_path, task, layer)
    assert found.pop("layers_looked") >= 8
    assert found.pop(name) == pytest.approx(value, abs=0.02 if name == "layers_repeated" else 1e-4)
    assert found == {}


@pytest.mark.filterwarnings("ignore:.*step.*even though:UserWarning")
def test_an_end_that_is_not_told_is_counted(tmp_path: Path) -> None:
    found = looked(tmp_path, "CartPole-v1", Endless)
    assert found["layers_ends_hidden"] >= 1


@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCar-v0"])
def test_a_layer_that_changes_nothing_leaves_only_that_it_was_looked_at(tmp_path: Path, task: str) -> None:
    found = looked(tmp_path, task, Layer)
    assert found.pop("layers_looked") > 50
    assert found == {}


def test_what_no_relation_explains_is_not_told(tmp_path: Path) -> None:
    assert looked(tmp_path, "Pendulum-v1", Noisy) == {}


def test_a_bare_task_is_as_it_is(tmp_path: Path) -> None:
    assert list(looked(tmp_path, "CartPole-v1", None)) == ["layers_looked"]


@pytest.mark.filterwarnings("ignore:.*precision lowered:UserWarning")
def test_rescaling_to_the_whole_range_reaches_it(tmp_path: Path) -> None:
    found = looked(tmp_path, "Pendulum-v1", lambda env: Layer(gym.wrappers.RescaleAction(env, -1.0, 1.0)))
    assert found["layers_action_reach"] == pytest.approx(1.0, abs=1e-4)


def test_training_goes_on_as_it_would_without_the_look(tmp_path: Path) -> None:
    """The copy is played, never the task: the trainer's observations are those of an unwatched task."""

    def seen(env: Any) -> list[float]:
        env.action_space.seed(3)
        env.reset(seed=3)
        numbers: list[float] = []
        for _ in range(700):
            obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
            numbers.extend(obs.tolist())
            if terminated or truncated:
                numbers.extend(env.reset()[0].tolist())
        return numbers

    with Monitor(tmp_path, algorithm="PPO", clock="env_steps") as monitor:
        beside = seen(watched(Weak(gym.make("Pendulum-v1")), World(monitor)))
    assert beside == seen(Weak(gym.make("Pendulum-v1")))


def test_a_task_that_cannot_be_copied_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise Falling

    monkeypatch.setattr("gymnasium.envs.classic_control.cartpole.CartPoleEnv.__deepcopy__", refuse, raising=False)
    assert looked(tmp_path, "CartPole-v1", Negated) == {}


def test_tasks_whose_copies_begin_anew_are_left_alone() -> None:
    class Simulator(gym.Env):
        action_space = gym.spaces.Discrete(2)

    notes = Underneath(Layer(Simulator()))
    assert notes.done
    assert notes.reset() == {}
    assert notes.step(0, np.zeros(2), 1.0, False) == {}


def test_a_task_with_a_window_is_left_alone() -> None:
    task = gym.make("CartPole-v1")
    task.unwrapped.render_mode = "human"
    assert Underneath(Layer(task)).done


def test_playing_again_is_stepping_a_copy_by_hand() -> None:
    task = gym.make("Acrobot-v1").unwrapped
    task.reset(seed=5)
    task.action_space.seed(5)
    episode, by_hand = Episode(copy.deepcopy(task), task.action_space), copy.deepcopy(task)
    episode.actions = [task.action_space.sample() for _ in range(60)]
    played = replay(episode, PLAIN, 60)
    for index, action in enumerate(episode.actions):
        obs, reward, *_ = by_hand.step(action)
        assert played.seen[index] == pytest.approx(obs)
        assert played.paid[index] == reward
