"""Bugs of bodies: masses, speeds, quaternions, commands, settling."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box

from ..planted.bases import Drive, Step
from .catalogue import bug


class Slider(gym.Env[Any, Any]):
    """A mass on a rail, pushed by a force; seen as position and speed; 10 ms per step, 400 steps."""

    limit, dt = 400, 0.01

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = Box(-1, 1, (1,), np.float32)
        self.at, self.speed, self.t = 0.0, 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.speed = (float(x) for x in self.np_random.uniform(-1, 1, 2))
        self.t = 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        self.speed += self.dt * (5 * float(np.clip(action[0], -1, 1)) - 0.5 * self.speed)
        self.at += self.dt * self.speed
        return self.seen(), -abs(self.at), False, self.t >= self.limit, {}

    def seen(self) -> Any:
        return np.array([self.at, self.speed], np.float32)


@bug("speed-not-divided-by-time-step", Slider)
class PerFrame(Slider):
    """The speed is the way since the last frame, a hundredth of what it should be."""

    def seen(self) -> Any:
        return np.array([self.at, self.dt * self.speed], np.float32)


class Spinner(gym.Env[Any, Any]):
    """A body turned by a torque; seen as a quaternion about one axis with its real part not negative, and the rate."""

    limit = 250

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (3,), np.float32)
        self.action_space = Box(-1, 1, (1,), np.float32)
        self.angle, self.rate, self.t = 0.0, 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.angle, self.rate, self.t = float(self.np_random.uniform(-3, 3)), 0.0, 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        self.rate = 0.98 * self.rate + 0.05 * float(np.clip(action[0], -1, 1))
        self.angle = (self.angle + 0.2 * self.rate + np.pi) % (2 * np.pi) - np.pi
        return self.seen(), float(np.cos(self.angle)), False, self.t >= self.limit, {}

    def sign(self) -> float:
        return 1.0

    def seen(self) -> Any:
        turned = self.sign() * np.array([np.cos(self.angle / 2), np.sin(self.angle / 2)])
        return np.array([*turned, self.rate], np.float32)


@bug("quaternion-flips-its-sign", Spinner)
class Flips(Spinner):
    """The filter answers with q or with -q, which are one rotation, as it happens to come out."""

    def sign(self) -> float:
        return float(self.np_random.choice([-1.0, 1.0]))


class Commanded(Slider):
    """Follow a commanded speed that is drawn anew every 25 steps and shown; paid for the one that was shown."""

    new_before_pay = False
    command = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.command = float(self.np_random.uniform(-1, 1))
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        _, _, over, cut, info = super().step(action)
        shown = self.command
        if self.t % 25 == 0:
            self.command = float(self.np_random.uniform(-1, 1))
        asked = self.command if self.new_before_pay else shown
        return self.seen(), -((self.speed - asked) ** 2), over, cut, info

    def seen(self) -> Any:
        return np.array([self.speed, self.command], np.float32)


@bug("paid-for-the-command-after", Commanded)
class NewBeforePay(Commanded):
    """The command is drawn anew before the reward is worked out: the agent is paid for one it had not seen."""

    new_before_pay = True


class Dropped(gym.Env[Any, Any]):
    """A box with a thruster that is let fall to the ground by reset; 150 steps."""

    limit = 150
    looks_first = False

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = Box(-1, 1, (1,), np.float32)
        self.height, self.speed, self.t = 0.0, 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.height, self.speed, self.t = float(self.np_random.uniform(1, 2)), 0.0, 0
        before = self.seen()
        for _ in range(15):
            self.falls(0.0)
        return before if self.looks_first else self.seen(), {}

    def falls(self, thrust: float) -> None:
        self.speed += 0.05 * (2.5 * thrust - 1.0)
        self.height += 0.05 * self.speed
        if self.height < 0:
            self.height, self.speed = 0.0, -0.3 * self.speed

    def step(self, action: Any) -> Step:
        self.t += 1
        self.falls(float(np.clip(action[0], -1, 1)))
        return self.seen(), -abs(self.height - 0.8), False, self.t >= self.limit, {}

    def seen(self) -> Any:
        return np.array([self.height, self.speed], np.float32)


@bug("reset-looks-before-settling", Dropped)
class LooksFirst(Dropped):
    """The observation of reset is taken before the fifteen steps in which the body settles."""

    looks_first = True


class Massive(Drive):
    """Drive with a mass drawn around 1 in each episode."""

    width, mass = 0.3, 1.0

    def start(self) -> None:
        super().start()
        self.mass = self.nominal() * float(np.exp(self.np_random.uniform(-self.width, self.width)))

    def nominal(self) -> float:
        return 1.0

    def moves(self, force: Any) -> None:
        super().moves(np.asarray(force) / self.mass)


@bug("randomised-mass-compounds", Massive)
class Compounds(Massive):
    """Each reset multiplies the mass that it finds, so that the mass of an episode is that of all before it."""

    def nominal(self) -> float:
        return self.mass


class Frugal(Drive):
    """Paid for progress per effort, with a floor under the effort."""

    floor, far = 0.1, 0.0

    def moves(self, force: Any) -> None:
        self.far = float(np.linalg.norm(self.position))
        super().moves(force)

    def pays(self, action: Any) -> Any:
        effort = np.linalg.norm(np.asarray(action, float)) + self.floor
        with np.errstate(all="ignore"):
            return float(np.float64(self.far - np.linalg.norm(self.position)) / effort)


@bug("progress-per-effort-of-zero", Frugal)
class NoFloor(Frugal):
    """Progress divided by the bare effort: with no effort a division by zero."""

    floor = 0.0
