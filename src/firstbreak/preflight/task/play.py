"""Plays whole episodes with a policy and notes return, length, how they ended and whether the goal was seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...isolation.child import Wire
from ...target import is_target, load_target
from ..environment.loading import source_of
from ..policy.asking import noted, policy_of
from .sample import TaskSample

LONGEST_S = 120.0
"""Seconds of play per policy, after which fewer episodes must do."""
LONGEST_STEPS = 20_000
"""Steps after which an episode that does not end is counted as truncated."""

Act = Callable[[Any], Any]


def play_all(
    target: Any, policies: Mapping[str, Any], *, goal: Any = None, episodes: int = 100, wire: Wire | None = None
) -> TaskSample:
    """Play `episodes` episodes at random and with each of `policies` (`expert`, `trained`).

    `goal` is a key of `info`, or `module:fn` (or a function) from observation to bool.
    """
    wire = wire or Wire(-1, None)
    env = source_of(target, wire.journal).make()
    seen = _goal_of(goal)
    columns: dict[str, dict[str, Any]] = {k: {} for k in ("returns", "lengths", "truncated", "reached", "kept")}
    notes = list[str]()
    try:
        env.action_space.seed(0)
        everyone: dict[str, Act] = {"random": lambda observation: env.action_space.sample()}
        everyone |= {who: noted(policy_of(policy), who, wire.journal) for who, policy in policies.items()}
        for who, act in everyone.items():
            rows = _play(env, act, seen, episodes)
            if len(rows) < episodes:
                notes.append(f"{who}: {len(rows)} of {episodes} episodes in {LONGEST_S:g} s")
            for name, values in zip(columns, zip(*rows, strict=True), strict=True):
                columns[name][who] = np.array(values, dtype=np.float64)
    finally:
        env.close()
    none = dict[str, Any]()
    return TaskSample(
        columns["returns"],
        columns["lengths"],
        columns["truncated"],
        none if seen is None else columns["reached"],
        none if seen is None else columns["kept"],
        notes,
    )


def _goal_of(goal: Any) -> Callable[[Any, Mapping[str, Any]], bool] | None:
    if goal is None:
        return None
    if isinstance(goal, str) and not is_target(goal):
        return lambda observation, info: bool(info.get(goal, False))
    test = load_target(goal) if isinstance(goal, str) else goal
    return lambda observation, info: bool(test(observation))


def _play(env: Any, act: Act, goal: Any, episodes: int) -> list[tuple[float, int, bool, bool, bool]]:
    rows = list[tuple[float, int, bool, bool, bool]]()
    start = time.monotonic()
    for number in range(episodes):
        if time.monotonic() - start > LONGEST_S:
            break
        observation, _ = env.reset(seed=number)
        total, steps, over, reached, inside = 0.0, 0, False, False, False
        cut = False
        while not (over or cut):
            action = act(observation)
            observation, reward, over, cut, info = env.step(action)
            total, steps = total + float(reward), steps + 1
            inside = goal is not None and goal(observation, info)
            reached = reached or inside
            cut = bool(cut) or steps >= LONGEST_STEPS
        rows.append((total, steps, bool(cut) and not over, reached, inside))
    return rows
