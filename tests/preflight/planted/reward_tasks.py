"""Planted bugs of tasks: horizon, exploration, returns of random, trained and expert policies."""

from __future__ import annotations

from typing import Any

import numpy as np

from .bases import Around, Drive, Grid, Step, cartpole, pendulum
from .reward_cases import RewardCase, case, rng


def to_the_middle(obs: Any) -> Any:
    """Brake and steer towards the origin."""
    return np.clip(-2 * obs[:2] - 2 * obs[2:], -1, 1).astype(np.float32)


def full_force(obs: Any) -> Any:
    """Push towards the origin at full force from rest, then on in the same direction: it never brakes."""
    way = obs[2:] if np.linalg.norm(obs[2:]) > 1e-6 else -obs[:2]
    return (way / max(float(np.linalg.norm(way)), 1e-9)).astype(np.float32)


def within(radius: float) -> Any:
    return lambda obs: bool(np.linalg.norm(obs[:2]) < radius)


def balance(obs: Any) -> int:
    return int(obs[2] + 0.5 * obs[3] + 0.1 * obs[1] > 0)


class TooFar(Drive):
    limit = 20

    def start(self) -> None:
        angle = self.np_random.uniform(0, 2 * np.pi)
        self.position = 8 * np.array([np.cos(angle), np.sin(angle)])
        self.velocity = np.zeros(2)


@case("truncation-rate-100")
def _() -> RewardCase:
    given = {"expert": to_the_middle, "goal": within(0.05), "episodes": 150}
    return RewardCase(env=TooFar, reward=False, task=True, **given)


@case("truncation-rate-100", "twin")
def _() -> RewardCase:
    return RewardCase(env=pendulum, reward=False, task=True, episodes=50)


class Tight(Around):
    def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
        return obs, reward, terminated or (self.t >= 2 and self.outside(obs)), truncated, info

    def outside(self, obs: Any) -> bool:
        return abs(float(obs[3])) > 0.3 or abs(float(obs[1])) > 0.3 or self.t >= 7


@case("episodes-under-ten")
def _() -> RewardCase:
    return RewardCase(env=lambda: Tight(cartpole()), reward=False, task=True, expert=balance)


@case("episodes-under-ten", "twin")
def _() -> RewardCase:
    return RewardCase(env=cartpole, reward=False, task=True)


class Walled(Grid):
    """The two ways into the corner are closed."""

    def goes(self, chosen: int) -> None:
        before = self.cell
        super().goes(chosen)
        if (self.cell == self.size - 1).all():
            self.cell = before


class Wide(Grid):
    """Starts in the far corner, and the shortest way takes nearly all the steps there are."""

    limit = 12

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell = np.zeros(2, np.int64)
        return self.seen(), {}


def to_the_corner(obs: Any) -> int:
    row, column = divmod(int(np.argmax(obs)), Grid.size)
    return 3 if row < Grid.size - 1 and row <= column else 0 if column < Grid.size - 1 else 3


def at_corner(obs: Any) -> bool:
    return bool(obs[-1])


@case("goal-never-reached")
def _() -> RewardCase:
    given = {"expert": to_the_corner, "goal": at_corner, "episodes": 500}
    return RewardCase(env=Walled, reward=False, task=True, **given)


@case("goal-never-reached", "twin")
def _() -> RewardCase:
    given = {"expert": to_the_corner, "goal": at_corner, "episodes": 500}
    return RewardCase(env=Wide, reward=False, task=True, **given)


class PassingPays(Drive):
    """Pays 1 when the region is entered for the first time; goes on to the limit."""

    def start(self) -> None:
        super().start()
        self.been = False

    def pays(self, action: Any) -> Any:
        inside = bool(np.linalg.norm(self.position) < 0.2)
        first, self.been = inside and not self.been, self.been or inside
        return float(first)

    def ends(self) -> tuple[Any, Any]:
        return False, self.t >= self.limit


@case("goal-reached-then-left")
def _() -> RewardCase:
    return RewardCase(env=PassingPays, reward=False, task=True, expert=full_force, goal=within(0.2))


class Pinhole(Drive):
    def start(self) -> None:
        angle = self.np_random.uniform(0, 2 * np.pi)
        self.position = 5 * np.array([np.cos(angle), np.sin(angle)])
        self.velocity = np.zeros(2)

    def pays(self, action: Any) -> Any:
        return float(np.linalg.norm(self.position) < 0.01)


@case("flat-reward-from-start")
def _() -> RewardCase:
    return RewardCase(env=Pinhole, task=True)


def normal(mean: float, spread: float, seed: int) -> Any:
    return rng(seed).normal(mean, spread, 100)


@case("trained-equals-random")
def _() -> RewardCase:
    return RewardCase(returns={"random": normal(20, 9, 0), "trained": normal(21, 9, 1), "expert": normal(200, 20, 2)})


@case("trained-equals-random", "twin")
def _() -> RewardCase:
    return RewardCase(returns={"random": normal(20, 9, 0), "trained": normal(26, 9, 1)})


@case("trained-worse-than-random")
def _() -> RewardCase:
    return RewardCase(returns={"random": normal(20, 5, 0), "trained": normal(5, 5, 1), "expert": normal(100, 10, 2)})
