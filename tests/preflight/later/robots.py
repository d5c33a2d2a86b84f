"""A robot that drives on a plane, and bugs of what it sees."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box

from ..planted.bases import Drive, Step
from .catalogue import bug, harmless


class Robot(gym.Env[Any, Any]):
    """A robot that pushes forwards and turns; it sees the target in its frame, speed and rate; 200 steps."""

    limit, way_round = 200, -1.0

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = Box(-1, 1, (2,), np.float32)
        self.at, self.target, self.yaw, self.speed, self.rate, self.t = np.zeros(2), np.zeros(2), 0.0, 0.0, 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.target = self.np_random.uniform(-2, 2, (2, 2))
        self.yaw, self.speed, self.rate, self.t = float(self.np_random.uniform(-3, 3)), 0.0, 0.0, 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        push, turn = np.clip(np.asarray(action, float), -1, 1)
        self.speed = 0.9 * self.speed + 0.2 * float(push)
        self.rate = 0.7 * self.rate + 0.5 * float(turn)
        self.yaw += 0.1 * self.rate
        self.at = np.clip(self.at + 0.1 * self.speed * np.array([np.cos(self.yaw), np.sin(self.yaw)]), -3, 3)
        far = float(np.linalg.norm(self.target - self.at))
        return self.seen(), -far, far < 0.2, self.t >= self.limit, {}

    def seen(self) -> Any:
        c, s = np.cos(self.yaw), self.way_round * np.sin(self.yaw)
        x, y = self.target - self.at
        return np.array([c * x - s * y, s * x + c * y, self.speed, self.rate], np.float32)


harmless("target-in-own-frame")(Robot)


@bug("rotated-the-wrong-way-round", Robot)
class WrongWay(Robot):
    """The vector to the target is turned by +yaw, not by -yaw, into the robot's frame; the yaw itself is not seen."""

    way_round = 1.0


class Laser(Robot):
    """The robot with eight beams that measure the way to the walls, and a penalty near them."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (12,), np.float32)

    def step(self, action: Any) -> Step:
        obs, reward, over, cut, info = super().step(action)
        return obs, reward - float(self.beams().min() < 0.3), over, cut, info

    def beams(self) -> Any:
        angles = self.yaw + np.arange(8) * np.pi / 4
        away = np.stack([np.cos(angles), np.sin(angles)], 1)
        with np.errstate(divide="ignore"):
            to_wall = np.where(away > 0, (3.2 - self.at) / away, (-3.2 - self.at) / away)
        return np.abs(to_wall).min(1).clip(0, 10)

    def scan(self) -> Any:
        return self.beams()

    def seen(self) -> Any:
        return np.concatenate([super().seen(), self.scan()]).astype(np.float32)


@bug("laser-read-in-reset-only", Laser)
class OneScan(Laser):
    """step puts together its observation from the scan that reset took."""

    held: Any = None

    def scan(self) -> Any:
        if self.t == 0 or self.held is None:
            self.held = self.beams()
        return self.held


class Route(Drive):
    """Four waypoints, each for 40 steps; seen are the way to the present one and the time that is left for it."""

    limit, shows_first = 160, False
    points: Any = np.zeros((4, 2))

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (5,), np.float32)

    def start(self) -> None:
        super().start()
        self.points = self.np_random.uniform(-1, 1, (4, 2))

    def present(self) -> Any:
        return self.points[min(3, self.t // 40)]

    def seen(self) -> Any:
        shown = self.points[0] if self.shows_first else self.present()
        return np.array([*(shown - self.position), *self.velocity, self.t % 40 / 40], np.float32)

    def pays(self, action: Any) -> Any:
        return -float(np.linalg.norm(self.present() - self.position))

    def ends(self) -> Any:
        return False, self.t >= self.limit


harmless("four-waypoints")(Route)


@bug("first-waypoint-stays-in-view", Route)
class FirstStays(Route):
    """The observation goes on showing the way to the first waypoint, the reward goes by the present one."""

    shows_first = True
