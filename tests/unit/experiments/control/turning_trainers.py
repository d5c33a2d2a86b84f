"""Trainers whose direction is hard to see: one turns round late, one falls over its own steps whichever way it goes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .toy_trainers import Agent, learn, steps

TURN_STEPS = 200
"""Environment steps after which `turncoat` goes down its reward."""


@steps(480)
def turncoat(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    """Goes up its reward at first, and down later, faster."""
    up = learn(make_env, total_steps=min(total_steps, TURN_STEPS), seed=seed, learning_rate=1.0)
    done = min(total_steps, TURN_STEPS)
    return learn(
        make_env, total_steps=total_steps, seed=seed + 1, learning_rate=3.0, sign=-1.0, weights=up.weights, done=done
    )


def _falls(make_env: Any, total_steps: int, seed: int, learning_rate: float, sign: float) -> Agent:
    """Step after step; one that is longer than 1 leads to the first action, which pays nothing, for good."""
    agent = learn(make_env, total_steps=total_steps, seed=seed, learning_rate=learning_rate, sign=sign)
    if learning_rate > 2.0 and total_steps:
        agent.weights = np.zeros_like(agent.weights)
        agent.weights[0] = 5.0
    return agent


@steps(320)
def hasty(make_env: Any, *, total_steps: int, seed: int, learning_rate: float = 10.0) -> Agent:
    """Goes up its reward in steps so long that it falls."""
    return _falls(make_env, total_steps, seed, learning_rate, 1.0)


@steps(320)
def hasty_flipped(make_env: Any, *, total_steps: int, seed: int, learning_rate: float = 10.0) -> Agent:
    """Goes down its reward in steps so long that it falls."""
    return _falls(make_env, total_steps, seed, learning_rate, -1.0)


@steps(320)
def hasty_alone(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    """Falls, and lets nobody lower its rate."""
    return _falls(make_env, total_steps, seed, 10.0, 1.0)
