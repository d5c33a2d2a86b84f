"""Planted bugs of actions and physics."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import RescaleAction

from .bases import Around, Drive, Grid, Step, cartpole, pendulum
from .catalogue import planted


class Cuts(gym.ActionWrapper[Any, Any, Any]):
    """Cuts actions to [-1, 1] without saying so."""

    def action(self, action: Any) -> Any:
        return np.clip(action, -1, 1)


@planted("rescale-outside-clip")
def rescale_outside_clip() -> Any:
    return RescaleAction(Cuts(pendulum()), np.float32(-1), np.float32(1))


@planted("one-action-dim-ignored")
class OneIgnored(Drive):
    def moves(self, force: Any) -> None:
        super().moves(force * np.array([1, 0]))


@planted("one-action-dim-ignored", "twin")
class Delayed(Drive):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (7,), np.float32)
        self.queue = np.zeros(3)

    def start(self) -> None:
        super().start()
        self.queue = np.zeros(3)

    def moves(self, force: Any) -> None:
        late, self.queue = self.queue[0], np.append(self.queue[1:], force[1])
        super().moves(np.array([force[0], late]))

    def seen(self) -> Any:
        return np.concatenate([super().seen(), self.queue]).astype(np.float32)


@planted("all-actions-ignored")
def all_ignored() -> Any:
    class Ignores(Around):
        def step(self, action: Any) -> Step:
            return super().step((self.t // 2) % 2)

    return Ignores(cartpole())


@planted("negligible-action")
class Negligible(Drive):
    def moves(self, force: Any) -> None:
        super().moves(force * 1e-5)
        self.velocity = self.velocity + self.np_random.normal(0, 0.02, 2)


@planted("negligible-action", "twin")
def mountain_car() -> Any:
    return gym.make("MountainCarContinuous-v0", disable_env_checker=True)


@planted("huge-action-effect")
class Huge(Drive):
    def moves(self, force: Any) -> None:
        super().moves(force * np.array([5000, 1]))


class HalfPendulum(gym.ActionWrapper[Any, Any, Any]):
    """Declares [-1, 1] and forgets to multiply by two."""

    def __init__(self) -> None:
        super().__init__(pendulum())
        self.action_space = Box(-1, 1, (1,), np.float32)

    def action(self, action: Any) -> Any:
        return action


@planted("action-rescaling-dropped")
def rescaling_dropped() -> Any:
    return HalfPendulum()


class TellsExecuted(Around):
    """Clips silently and tells the executed action in info."""

    def __init__(self) -> None:
        super().__init__(pendulum())
        self.action_space = Box(-1, 1, (1,), np.float32)

    def step(self, action: Any) -> Step:
        done = np.clip(action, -1, 1)
        *values, info = super().step(done)
        return *values, info | {"action": done}


@planted("clipped-after-log-prob")
def clipped() -> Any:
    return TellsExecuted()


@planted("clipped-after-log-prob", "twin")
def clipped_rarely() -> Any:
    return TellsExecuted()


@planted("two-actions-the-same")
class SameTwice(Grid):
    def reads(self, action: Any) -> int:
        return 2 if int(action) == 3 else int(action)


@planted("two-actions-the-same", "twin")
class NoOp(Grid):
    directions = ((0, 1), (0, -1), (-1, 0), (1, 0), (0, 0))

    def __init__(self) -> None:
        super().__init__()
        self.action_space = Discrete(5)


@planted("frame-skip-sixteen")
def frame_skip() -> Any:
    class Skips(CartPoleEnv):
        def step(self, action: Any) -> Any:
            for _ in range(16):
                answer = super().step(action)
                if answer[2]:
                    break
            return answer

    return Skips()


@planted("zero-action-drift")
class Drifts(Drive):
    def moves(self, force: Any) -> None:
        super().moves(force + np.array([0.5, 0]))


@planted("zero-action-drift", "twin")
def falls() -> Any:
    return pendulum()


@planted("physics-nan-extreme-action")
class Root(Drive):
    def moves(self, force: Any) -> None:
        with np.errstate(invalid="ignore"):
            super().moves(force * self.grip(1.95 - float(np.abs(force).sum())))

    def grip(self, left: float) -> Any:
        return np.sqrt(np.float64(left))


@planted("physics-nan-extreme-action", "twin")
class Guarded(Root):
    def grip(self, left: float) -> Any:
        return np.sqrt(max(0.0, left))


@planted("energy-grows")
class Grows(Drive):
    drag, limit = -0.1, 2000


@planted("exception-swallowed")
class Swallows(Drive):
    def step(self, action: Any) -> Step:
        try:
            if self.np_random.random() < 1 / 50:
                raise ArithmeticError("solver did not converge")
        except ArithmeticError:
            return self.seen(), 0.0, False, False, {}
        return super().step(action)
