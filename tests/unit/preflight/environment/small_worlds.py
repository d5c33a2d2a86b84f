"""Small environments with one thing changed at a time, and a plain recorder: subjects of the checks' tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from firstbreak.check import Symptom, find_check
from firstbreak.preflight.environment.world import Episode, World


class Drive(gym.Env[Any, Any]):
    """A point mass in the plane: (x, y, vx, vy), pushed by a force in [-1, 1]^2."""

    limit = 200
    dt, drag = 0.1, 0.1

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space: Any = gym.spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.random = np.random.default_rng(seed)
        self.state = np.concatenate([self.random.uniform(-1, 1, 2), np.zeros(2)])
        self.t = 0
        return self.look(), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.t += 1
        self.move(self.force(np.asarray(action, float)))
        near = float(np.hypot(*self.state[:2])) < 0.05
        return self.look(), self.pay(), self.terminated(near), self.truncated(), {}

    def force(self, action: Any) -> Any:
        return np.clip(action, -1, 1)

    def move(self, force: Any) -> None:
        self.state[2:] += self.dt * (force - self.drag * self.state[2:])
        self.state[:2] += self.dt * self.state[2:]

    def look(self) -> Any:
        return self.state.astype(np.float32)

    def pay(self) -> float:
        return -float(np.hypot(*self.state[:2]))

    def terminated(self, near: bool) -> bool:
        return near

    def truncated(self) -> bool:
        return self.t >= self.limit

    def close(self) -> None:
        pass


class Table(gym.Env[Any, Any]):
    """Three numbers on a random walk that the action pushes; ends by truncation at step 100."""

    limit = 100

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-10, 10, (3,), np.float32)
        self.action_space: Any = gym.spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.random = np.random.default_rng(seed)
        self.state = self.random.normal(size=3)
        self.t = 0
        return self.look(), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.t += 1
        push = 0.1 * (2 * int(action) - 1)
        self.state = np.clip(0.95 * self.state + push + 0.1 * self.random.normal(size=3), -10, 10)
        return self.look(), self.pay(), *self.ends(), {}

    def look(self) -> Any:
        return self.state.astype(np.float32)

    def pay(self) -> float:
        return float(np.tanh(self.state[0]))

    def ends(self) -> tuple[bool, bool]:
        return False, self.t >= self.limit

    def close(self) -> None:
        pass


class Grid(gym.Env[Any, Any]):
    """5 x 5 cells, one-hot; four moves; reward 1 and the end in one corner; truncated at step 100."""

    limit = 100
    moves: Sequence[tuple[int, int]] = ((0, 1), (1, 0), (0, -1), (-1, 0))

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0, 1, (25,), np.float32)
        self.action_space: Any = gym.spaces.Discrete(len(self.moves))

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.random = np.random.default_rng(seed)
        self.cell = (int(self.random.integers(4)), int(self.random.integers(4)))
        self.t = 0
        return self.look(), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.t += 1
        if not self.stuck():
            dx, dy = self.moves[int(action)]
            self.cell = (min(max(self.cell[0] + dx, 0), 4), min(max(self.cell[1] + dy, 0), 4))
        goal = self.cell == (4, 4)
        return self.look(), float(goal), *self.ends(goal), {}

    def stuck(self) -> bool:
        return False

    def look(self) -> Any:
        return np.eye(25, dtype=np.float32)[5 * self.cell[0] + self.cell[1]]

    def ends(self, goal: bool) -> tuple[bool, bool]:
        return goal, self.t >= self.limit

    def close(self) -> None:
        pass


def changed(base: type, **parts: Any) -> type:
    """A subclass of `base` with some attributes or methods replaced."""
    return type("Changed" + base.__name__, (base,), parts)


def wrapped(make: Callable[[], Any], **parts: Any) -> Callable[[], Any]:
    """A factory for the environment of `make` with a Gymnasium wrapper that replaces some methods."""
    return lambda: type("Changed", (gym.Wrapper,), parts)(make())


def play(make: Callable[[], Any], actions: Sequence[Any] | None, seed: int | None, most: int = 10**9) -> Episode:
    """Play `actions` (random ones when None) and record them."""
    env = make()
    if actions is None:
        env.action_space.seed(seed)
    seen, _ = env.reset(seed=seed)
    rows, taken, paid, flags = [flat(env, seen)], [], [], []
    while len(taken) < (most if actions is None else len(actions)):
        action = env.action_space.sample() if actions is None else actions[len(taken)]
        taken.append(np.copy(action) if np.ndim(action) else action)
        seen, reward, terminated, truncated, _ = env.step(action)
        rows.append(flat(env, seen))
        paid.append(float(reward))
        flags.append((bool(terminated), bool(truncated)))
        if terminated or truncated:
            break
    env.close()
    ends = np.array(flags, bool).reshape(-1, 2)
    columns = np.array([np.ravel(np.asarray(a, float)) for a in taken]).reshape(len(taken), -1 if taken else 1)
    return Episode(seed, np.array(rows), tuple(taken), columns, np.array(paid, float), ends[:, 0], ends[:, 1])


def flat(env: Any, seen: Any) -> Any:
    if isinstance(env.observation_space, gym.spaces.Discrete):
        return np.eye(env.observation_space.n)[int(seen)]
    return np.ravel(np.asarray(seen, float))


def record(make: Callable[[], Any], steps: int = 2500, most: int = 1000, limit: int | None = None) -> World:
    """Record random episodes until there are `steps` steps."""
    episodes: list[Episode] = []
    while sum(e.length for e in episodes) < steps:
        left = steps - sum(e.length for e in episodes)
        episodes.append(play(make, None, len(episodes), min(most, left)))
    env = make()
    spec = getattr(env, "spec", None)
    return World(
        "small",
        make,
        env.observation_space,
        env.action_space,
        limit if limit is not None else getattr(spec, "max_episode_steps", None),
        tuple(episodes),
        play=lambda actions, seed: play(make, actions, seed),
    )


def by_hand(
    rows: Any,
    rewards: Any = None,
    *,
    actions: Any = None,
    terminated: bool = False,
    truncated: bool = False,
    episodes: int = 1,
    **world: Any,
) -> World:
    """A world whose episodes all hold these observations [L + 1, D] and rewards [L]; nothing can be played."""
    seen = np.asarray(rows, float)
    length = len(seen) - 1
    acted = np.zeros((length, 1)) if actions is None else np.asarray(actions, float).reshape(length, -1)
    paid = np.zeros(length) if rewards is None else np.asarray(rewards, float)
    ends = np.arange(length) == length - 1
    one = Episode(0, seen, tuple(acted), acted, paid, ends & terminated, ends & truncated)
    space = gym.spaces.Box(-np.inf, np.inf, (seen.shape[1],))
    return World(
        "by hand",
        lambda: None,
        world.get("observation_space", space),
        world.get("action_space", gym.spaces.Discrete(2)),
        world.get("time_limit"),
        (one,) * episodes,
    )


def finds(name: str, world: World) -> Symptom | None:
    """Put one check to `world`; None when it is clear or cannot look."""
    answer = find_check(name).look(world)
    return answer if isinstance(answer, Symptom) else None
