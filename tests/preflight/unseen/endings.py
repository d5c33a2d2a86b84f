"""Bugs of ends and of policies."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec

from ..planted.bases import Drive, Grid, cartpole, pendulum
from .catalogue import bug, other


def declared() -> Any:
    env = Grid()
    env.spec = EnvSpec("Grid-v0", max_episode_steps=100)
    return env


@bug("steps-counted-twice", declared)
def counted_twice() -> Any:
    class Twice(Grid):
        def ends(self, at_goal: bool) -> Any:
            self.t += 1
            return super().ends(at_goal)

    env = Twice()
    env.spec = EnvSpec("Twice-v0", max_episode_steps=100)
    return env


@bug("limit-on-all-steps-ever", Drive)
class AllSteps(Drive):
    """The clock of the simulator goes on over resets, and the limit is asked of it."""

    clock = 0

    def ends(self) -> Any:
        self.clock += 1
        return bool(np.linalg.norm(self.position) < 0.05), self.clock % self.limit == 0


@bug("policy-counts-from-one", cartpole)
def for_policy_from_one() -> Any:
    return cartpole()


@other("policy-counts-from-one", "policy")
def from_one(obs: Any) -> Any:
    return 1 + int(obs[2] > 0)


@bug("policy-nan-far-out", pendulum)
def for_policy_nan() -> Any:
    return pendulum()


@other("policy-nan-far-out", "policy")
def root(obs: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.clip(np.sqrt(np.array([5.0 - abs(obs[2])], np.float32)) * np.sign(-obs[1]), -2, 2)
