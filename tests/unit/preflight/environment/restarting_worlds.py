"""Environments that begin anew inside step and never say an end, and continuing tasks that only look like it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

Told = tuple[Any, float, bool, bool, dict[str, Any]]


class Cart(gym.Env[Any, Any]):
    """A cart (x, v) that starts near 0 and is pushed about; what happens at |x| > 0.5 is up to `beyond`."""

    action_space: Any = gym.spaces.Box(-1, 1, (1,), np.float32)
    size = 2

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (self.size,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.start()
        return self.look(), {}

    def start(self) -> None:
        self.x, self.v = self.np_random.uniform(-0.02, 0.02, 2)
        self.t = 0

    def step(self, action: Any) -> Told:
        self.t += 1
        self.v = 0.97 * self.v + 0.02 * float(action[0])
        self.x += self.v
        reward = -abs(self.x)
        self.beyond()
        return self.look(), reward, False, self.cut(), {}

    def look(self) -> Any:
        return np.array([self.x, self.v], np.float32)

    def beyond(self) -> None:
        self.x = float(np.clip(self.x, -0.5, 0.5))

    def cut(self) -> bool:
        return False


class AnewAtEdge(Cart):
    """Begins anew where it leaves the track."""

    def beyond(self) -> None:
        if abs(self.x) > 0.5:
            self.start()


class AnewAfter60(Cart):
    """Begins anew after 60 steps, as a time limit inside would."""

    def beyond(self) -> None:
        if self.t >= 60:
            self.start()


class AnewWithLimit(AnewAtEdge):
    """Begins anew at the edge, and a time limit ends the episodes."""

    def reset(self, **options: Any) -> Any:
        self.steps = 0
        return super().reset(**options)

    def cut(self) -> bool:
        self.steps += 1
        return self.steps >= 150


class BareCartPole(gym.Env[Any, Any]):
    """CartPole that is set up again where it falls; the end is told to nobody."""

    def __init__(self) -> None:
        self.inner = gym.make("CartPole-v1").unwrapped
        self.observation_space, self.action_space = self.inner.observation_space, self.inner.action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self.inner.reset(seed=seed)

    def step(self, action: Any) -> Any:
        seen, reward, fallen, _, info = self.inner.step(action)
        return (self.inner.reset()[0] if fallen else seen), reward, False, False, info


class Ring(Cart):
    """Leaves on one side and comes in on the other."""

    def beyond(self) -> None:
        self.x = (self.x + 0.5) % 1.0 - 0.5


class GoalMoves(Cart):
    """A goal that is drawn anew where it is reached; the cart stays where it is."""

    size = 3

    def start(self) -> None:
        super().start()
        self.goal = float(self.np_random.uniform(-0.5, 0.5))

    def look(self) -> Any:
        return np.array([self.x, self.v, self.goal], np.float32)

    def beyond(self) -> None:
        super().beyond()
        if abs(self.x - self.goal) < 0.05:
            self.goal = float(self.np_random.uniform(-0.5, 0.5))


class BallAnew(Cart):
    """The ball is served anew from the centre after a point; the bat, which starts anywhere, stays where it is."""

    size = 3

    def start(self) -> None:
        self.bat, self.t = float(self.np_random.uniform(-1, 1)), 0
        self.serve()

    def serve(self) -> None:
        self.x, self.v = self.np_random.uniform(-0.02, 0.02), 0.02 * self.np_random.choice([-1, 1])

    def look(self) -> Any:
        return np.array([self.x, self.v, self.bat], np.float32)

    def step(self, action: Any) -> Told:
        self.bat = float(np.clip(self.bat + 0.02 * float(action[0]), -1, 1))
        self.x += self.v
        if abs(self.x) > 0.5:
            self.serve()
        return self.look(), -abs(self.x), False, False, {}


class Jumper(Cart):
    """Is thrown to any place now and then."""

    def beyond(self) -> None:
        super().beyond()
        if self.np_random.random() < 0.05:
            self.x = float(self.np_random.uniform(-0.5, 0.5))


class LateZeros(AnewAtEdge):
    """Shows zeros for two frames, then what was three frames ago; ends at the edge."""

    def reset(self, **options: Any) -> Any:
        seen, info = super().reset(**options)
        self.queue = [np.zeros_like(seen), np.zeros_like(seen), seen]
        return self.queue.pop(0), info

    def step(self, action: Any) -> Any:
        seen, *rest = super().step(action)
        self.queue.append(seen)
        return self.queue.pop(0), *rest
