"""Bugs of what a step does: angles, actions, delays, rewards inside the environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict

from ..planted.bases import Drive, Grid, Step, Table
from .catalogue import bug, other


class Wheel(gym.Env[Any, Any]):
    """An angle turned by a torque, brought back into [-pi, pi] at each step; 300 steps."""

    limit = 300

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = Box(-1, 1, (1,), np.float32)
        self.angle, self.speed, self.t = 0.0, 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.angle, self.speed = (float(x) for x in self.np_random.uniform(-1, 1, 2))
        self.t = 0
        return self.seen(), {}

    def wrapped(self, angle: float) -> float:
        return (angle + np.pi) % (2 * np.pi) - np.pi

    def step(self, action: Any) -> Step:
        self.t += 1
        push = float(np.clip(action[0], -1, 1))
        self.speed = float(np.clip(0.99 * self.speed + 0.3 * push - 0.05, -8, 8))
        self.angle = self.wrapped(self.angle + 0.2 * self.speed)
        return self.seen(), float(np.cos(self.angle)), False, self.t >= self.limit, {}

    def seen(self) -> Any:
        return np.array([self.angle, self.speed], np.float32)


@bug("angle-wrapped-on-one-side", Wheel)
class OneSide(Wheel):
    """Angles above pi come back, angles below -pi do not."""

    def wrapped(self, angle: float) -> float:
        return angle - 2 * np.pi if angle > np.pi else angle


class Arm(gym.Env[Any, Any]):
    """Three joints that follow three torques; angles in radians, between -1.5 and 1.5."""

    limit = 120
    units = np.ones(3)

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = Box(-1, 1, (3,), np.float32)
        self.joints, self.speeds, self.t = np.zeros(3), np.zeros(3), 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.joints, self.speeds, self.t = self.np_random.uniform(-1, 1, 3), np.zeros(3), 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        self.speeds = 0.9 * self.speeds + 0.1 * np.clip(action, -1, 1) - 0.05 * self.joints
        self.joints = np.clip(self.joints + self.speeds, -1.5, 1.5)
        return self.seen(), -float(np.square(self.joints).sum()), False, self.t >= self.limit, {}

    def seen(self) -> Any:
        return np.concatenate([self.units * self.joints, self.units * self.speeds]).astype(np.float32)


@bug("one-joint-in-degrees", Arm)
class Degrees(Arm):
    units = np.array([1.0, 1.0, 180 / np.pi])


@bug("action-one-step-late-unseen", Drive)
class Late(Drive):
    """The force of the step before is applied, and nothing in the observation tells which it was."""

    waiting: Any = np.zeros(2)

    def start(self) -> None:
        super().start()
        self.waiting = np.zeros(2)

    def moves(self, force: Any) -> None:
        force, self.waiting = self.waiting, force
        super().moves(force)


@bug("action-cast-to-integer", Drive)
class Cast(Drive):
    """`int(a)` of an action in [-1, 1] is 0 nearly always."""

    def moves(self, force: Any) -> None:
        super().moves(np.asarray(force).astype(int).astype(float))


@bug("checkpoints-stay-taken", Grid)
class Taken(Grid):
    """Two checkpoints pay 1 each, once; the set of those taken is made in the constructor, not in reset."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: set[tuple[int, int]] = set()

    def step(self, action: Any) -> Step:
        obs, reward, over, cut, info = super().step(action)
        where = (int(self.cell[0]), int(self.cell[1]))
        if where in ((2, 2), (1, 3)) and where not in self.taken:
            self.taken.add(where)
            reward += 1.0
        return obs, reward, over, cut, info


@bug("tomorrow-in-observation", Table)
class Tomorrow(Table):
    """A market whose next move is already in the observation; the action bets on it."""

    def __init__(self) -> None:
        super().__init__()
        self.move = 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.move = float(self.np_random.normal())
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        reward = (2 * int(action) - 1) * self.move
        self.state = np.clip(0.95 * self.state + np.array([0.3, 0.2, 0.0]) * self.move, -10, 10)
        self.move = float(self.np_random.normal())
        return self.seen(), reward, *self.ends(), {}

    def seen(self) -> Any:
        return np.array([*self.state[:2], self.move], np.float32)


class ToGoal(Drive):
    """A goal drawn per episode; the reward is minus the distance to it, and it can be seen."""

    goal = np.zeros(2)
    shows = True

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (6 if self.shows else 4,), np.float32)

    def start(self) -> None:
        super().start()
        self.goal = self.np_random.uniform(-1, 1, 2)

    def seen(self) -> Any:
        return np.concatenate([super().seen(), self.goal.astype(np.float32)]) if self.shows else super().seen()

    def pays(self, action: Any) -> Any:
        return -float(np.linalg.norm(self.position - self.goal))

    def ends(self) -> Any:
        return bool(np.linalg.norm(self.position - self.goal) < 0.05), self.t >= self.limit


other("goal-in-observation")(ToGoal)


@bug("goal-not-in-observation", ToGoal)
class Unseen(ToGoal):
    shows = False


class GoalDict(ToGoal):
    """The same with the three keys of goal-conditioned environments."""

    swaps = False

    def __init__(self) -> None:
        super().__init__()
        pair = Box(-np.inf, np.inf, (2,), np.float32)
        self.observation_space = Dict({"achieved_goal": pair, "desired_goal": pair, "observation": pair})

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed=seed, options=options)
        if self.swaps:
            obs = obs | {"achieved_goal": obs["desired_goal"], "desired_goal": obs["achieved_goal"]}
        return obs, info

    def seen(self) -> Any:
        parts = {"achieved_goal": self.position, "desired_goal": self.goal, "observation": self.velocity}
        return {k: np.array(v, np.float32) for k, v in parts.items()}


other("goal-dict")(GoalDict)


@bug("goal-keys-swapped-in-reset", GoalDict)
class Swaps(GoalDict):
    swaps = True
