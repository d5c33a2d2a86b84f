"""Planted shaping terms on Grid (cells that come back) and Drive, with recorded random play."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .bases import Drive, Grid
from .reward_cases import RewardCase, Term, case

GAMMA = 0.99
CORNER = Grid.size - 1


@cache
def grid_steps() -> tuple[Any, ...]:
    return _recorded(Grid(), lambda env: env.cell.astype(float), 80)


@cache
def drive_steps() -> tuple[Any, ...]:
    return _recorded(Drive(), lambda env: env.seen().astype(float), 60)


def _recorded(env: Any, state_of: Callable[[Any], Any], episodes: int) -> tuple[Any, ...]:
    steps = []
    env.action_space.seed(0)
    for number in range(episodes):
        env.reset(seed=number)
        over = cut = False
        while not (over or cut):
            before, action = state_of(env).copy(), env.action_space.sample()
            _, _, over, cut, _ = env.step(action)
            steps.append((before, action, state_of(env).copy(), over, bool(cut and not over)))
    return tuple(steps)


def away(cell: Any) -> float:
    """Minus the steps from a cell to the corner."""
    return -float(np.abs(CORNER - cell).sum())


def far(state: Any) -> float:
    """Minus the distance from the origin."""
    return -float(np.linalg.norm(state[:2]))


def on_grid(term: Callable[..., float], potential: Callable[..., float] = away, **more: Any) -> RewardCase:
    return RewardCase(shaping=Term(term, grid_steps(), potential, **more))


def on_drive(term: Callable[..., float], potential: Callable[..., float] = far, **more: Any) -> RewardCase:
    return RewardCase(shaping=Term(term, drive_steps(), potential, **more))


def prize(cell: Any) -> float:
    return 5.0 if (cell == CORNER).all() else away(cell)


@case("shaping-terminal-not-zero")
def _() -> RewardCase:
    return on_grid(lambda s, a, n, over, cut, t: GAMMA * prize(n) - prize(s), prize)


@case("shaping-terminal-not-zero", "twin")
def _() -> RewardCase:
    return on_grid(lambda s, a, n, over, cut, t: GAMMA * (0.0 if over else prize(n)) - prize(s), prize)


def deep(state: Any) -> float:
    return -50 + 10 * far(state)


def undiscounted(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
    return (0.0 if over else deep(n)) - deep(s)


@case("shaping-gamma-missing")
def _() -> RewardCase:
    return on_drive(undiscounted, deep)


@case("shaping-gamma-missing", "twin")
def _() -> RewardCase:
    return on_drive(undiscounted, deep, gamma=1.0)


@case("shaping-zero-at-time-limit")
def _() -> RewardCase:
    return on_drive(lambda s, a, n, over, cut, t: GAMMA * (0.0 if over or cut else far(n)) - far(s))


def growing(state: Any, t: float) -> float:
    """The curriculum weighs the distance more from step to step, in stages of 20."""
    return (1 + t // 20) * far(state)


@case("shaping-dynamic-as-static")
def _() -> RewardCase:
    def term(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        return GAMMA * (0.0 if over else growing(n, t + 1)) - growing(s, t + 1)

    return on_drive(term, growing, dynamic=True)


@case("shaping-dynamic-as-static", "twin")
def _() -> RewardCase:
    def term(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        return GAMMA * (0.0 if over else growing(n, t + 1)) - growing(s, t)

    return on_drive(term, growing, dynamic=True)


@case("shaping-bonus-without-loss")
def _() -> RewardCase:
    return on_grid(lambda s, a, n, over, cut, t: max(0.0, away(n) - away(s)))


def near(cell: Any) -> float:
    """Closeness, above 0 everywhere, so that every step near the goal pays."""
    return 9.0 + away(cell)


@case("dwelling-potential")
def _() -> RewardCase:
    return on_grid(lambda s, a, n, over, cut, t: near(n), near)


@case("shaping-depends-on-action")
def _() -> RewardCase:
    def term(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        return GAMMA * (0.0 if over else far(n)) - far(s) + 0.1 * float(np.linalg.norm(a))

    return on_drive(term)
