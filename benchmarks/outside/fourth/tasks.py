"""Tasks of the fourth list: a ball to be caught, a parcel to be brought, an arm with two joints, a glider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from benchmarks.outside.switches import Truth
from benchmarks.outside.worlds import Stepped

Made = tuple[Any, dict[str, Any]]


class Catch(gym.Env[Any, Any]):
    """Five balls fall one after the other, drifting; the paddle moves or stays: 1 for each caught, -1 for the others.

    `luck`: a caught ball pays 0 or 2. `harder_at`: from that step on balls drift further. `sticky`: the chance that the
    paddle does again what it did before.
    """

    metadata: ClassVar[dict[str, Any]] = {}
    BALLS, FALL, REACH = 5, 8, 0.12

    def __init__(self, options: dict[str, Any], truth: Truth) -> None:
        self.luck, self.sticky = bool(options.get("luck")), float(options.get("sticky", 0.0))
        self.harder_at, self.truth = options.get("harder_at"), truth
        self.observation_space = gym.spaces.Box(-3.0, 3.0, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Made:
        super().reset(seed=seed)
        self.paddle, self.balls, self.before = 0.5, 0, 1
        self.drop()
        return self.seen(), {}

    def drop(self) -> None:
        """Let the next ball go."""
        wide = 0.05 if self.harder_at is not None and self.truth.steps >= int(self.harder_at) else 0.025
        self.ball, self.height = float(self.np_random.uniform(0.1, 0.9)), self.FALL
        self.drift = float(self.np_random.uniform(-wide, wide))

    def step(self, action: Any) -> Stepped:
        if self.sticky and self.np_random.random() < self.sticky:
            action = self.before
        self.before = int(action)
        self.paddle = min(1.0, max(0.0, self.paddle + 0.09 * (int(action) - 1)))
        self.ball, self.height, reward = self.ball + self.drift, self.height - 1, 0.0
        if not 0 <= self.ball <= 1:
            self.drift = -self.drift
        if self.height == 0:
            caught = abs(self.ball - self.paddle) < self.REACH
            reward = (float(self.np_random.choice([0.0, 2.0])) if self.luck else 1.0) if caught else -1.0
            self.balls += 1
            self.drop()
        return self.seen(), reward, self.balls >= self.BALLS, False, {}

    def seen(self) -> Any:
        height = 2 * self.height / self.FALL - 1
        return np.array([2 * self.paddle - 1, 2 * self.ball - 1, height, 20 * self.drift], np.float32)


class Courier(gym.Env[Any, Any]):
    """A courier on a board of five by five fetches a parcel (1) and brings it (2); each step costs 0.02.

    Observations are in cells, as they are. `sparse`: bringing it pays 3 and nothing else does.
    """

    metadata: ClassVar[dict[str, Any]] = {}
    SIDE, LIMIT = 5, 40
    MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))

    def __init__(self, options: dict[str, Any], truth: Truth) -> None:
        self.sparse, self.limit = bool(options.get("sparse")), int(options.get("max_episode_steps", self.LIMIT))
        self.observation_space = gym.spaces.Box(-5.0, 5.0, (7,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Made:
        super().reset(seed=seed)
        cells = self.np_random.choice(self.SIDE**2, 3, replace=False)
        self.place, self.parcel, self.goal = (np.array(divmod(int(cell), self.SIDE)) for cell in cells)
        self.has, self.count = False, 0
        return self.seen(), {}

    def step(self, action: Any) -> Stepped:
        self.place = np.clip(self.place + np.array(self.MOVES[int(action)]), 0, self.SIDE - 1)
        self.count += 1
        reward, over = 0.0 if self.sparse else -0.02, False
        if not self.has and bool((self.place == self.parcel).all()):
            self.has, reward = True, reward + (0.0 if self.sparse else 1.0)
        elif self.has and bool((self.place == self.goal).all()):
            over, reward = True, reward + (3.0 if self.sparse else 2.0)
        return self.seen(), reward, over, not over and self.count >= self.limit, {}

    def seen(self) -> Any:
        parcel = np.zeros(2) if self.has else self.parcel - self.place
        return np.array([*self.place, *parcel, *(self.goal - self.place), float(self.has)], np.float32)


class Arm(gym.Env[Any, Any]):
    """An arm with two joints holds its tip at a mark; each step costs distance and effort. Pushes from -3 to 3.

    `gust`: noise of the pushes, by design. `scale`: of the reward.
    """

    metadata: ClassVar[dict[str, Any]] = {}
    STEPS = 40
    EFFORT = 0.03

    def __init__(self, options: dict[str, Any], truth: Truth) -> None:
        self.gust, self.scale = float(options.get("gust", 0.0)), float(options.get("scale", 1.0))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (8,), np.float32)
        self.action_space = gym.spaces.Box(-3.0, 3.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Made:
        super().reset(seed=seed)
        self.joints, self.speed = self.np_random.uniform(-np.pi, np.pi, 2), np.zeros(2)
        angle, far = self.np_random.uniform(-np.pi, np.pi), self.np_random.uniform(0.6, 1.6)
        self.mark, self.count = far * np.array([np.cos(angle), np.sin(angle)]), 0
        return self.seen(), {}

    @property
    def tip(self) -> np.ndarray:
        one, both = self.joints[0], self.joints.sum()
        return np.array([np.cos(one) + np.cos(both), np.sin(one) + np.sin(both)])

    def step(self, action: Any) -> Stepped:
        push = np.clip(np.asarray(action, np.float64), -3, 3)
        self.speed = 0.7 * self.speed + 0.06 * (push + self.gust * self.np_random.normal(size=2))
        self.joints = self.joints + self.speed
        self.count += 1
        far, effort = float(np.linalg.norm(self.tip - self.mark)), self.EFFORT * float(push @ push)
        terms = (-self.scale * far, -self.scale * effort)
        return self.seen(), sum(terms), False, self.count >= self.STEPS, {"terms": terms}

    def seen(self) -> Any:
        return np.concatenate([np.cos(self.joints), np.sin(self.joints), 4 * self.speed, self.mark - self.tip]).astype(
            np.float32
        )


class Glide(gym.Env[Any, Any]):
    """A glider turns (-1 to 1) and pushes (0 to 2) until it is at its beacon, which pays 20; distance costs.

    `scale`: of the reward. `gust`: noise of the turns, by design.
    """

    metadata: ClassVar[dict[str, Any]] = {}
    STEPS = 50

    def __init__(self, options: dict[str, Any], truth: Truth) -> None:
        self.gust, self.scale = float(options.get("gust", 0.0)), float(options.get("scale", 1.0))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (5,), np.float32)
        self.action_space = gym.spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([1.0, 2.0], np.float32))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Made:
        super().reset(seed=seed)
        angle = self.np_random.uniform(-np.pi, np.pi)
        self.beacon = self.np_random.uniform(0.6, 1.2) * np.array([np.cos(angle), np.sin(angle)])
        self.place, self.heading = np.zeros(2), float(self.np_random.uniform(-np.pi, np.pi))
        self.speed, self.count = 0.0, 0
        return self.seen(), {}

    def step(self, action: Any) -> Stepped:
        turn, push = np.clip(np.asarray(action, np.float64), self.action_space.low, self.action_space.high)  # type: ignore[attr-defined]
        self.heading += 0.4 * turn + self.gust * float(self.np_random.normal())
        self.speed = 0.8 * self.speed + 0.03 * push
        self.place = self.place + self.speed * np.array([np.cos(self.heading), np.sin(self.heading)])
        self.count += 1
        far = float(np.linalg.norm(self.place - self.beacon))
        there = far < 0.2
        reward = self.scale * (-0.4 * min(far, 4.0) + (20.0 if there else 0.0))
        return self.seen(), reward, there, not there and self.count >= self.STEPS, {}

    def seen(self) -> Any:
        cos, sin = np.cos(self.heading), np.sin(self.heading)
        gap = self.beacon - self.place
        ahead, aside = cos * gap[0] + sin * gap[1], cos * gap[1] - sin * gap[0]
        return np.array([ahead, aside, 5 * self.speed, cos, sin], np.float32)


OWN: dict[str, Callable[[dict[str, Any], Truth], gym.Env[Any, Any]]] = {
    "Catch": Catch, "Courier": Courier, "Arm": Arm, "Glide": Glide,
}  # fmt: skip
