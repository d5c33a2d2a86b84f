"""Asking a trained agent: its value, Q and actions in every state that it has visited."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..environments.ledger import Ledger
from ..environments.world import Kind, World

DRAWS = 64
"""Actions drawn in each state: enough to tell a share of 0.6 from a chance of 1/3 at the 1e-4 level."""
REPEATS = 12
"""Repeated deterministic calls in one state."""


class BadAgent(Exception):
    """The agent does not answer as the interface asks."""


def ask(agent: Any, world: World, kind: Kind, ledger: Ledger, under_way: Callable[[str], None]) -> dict[str, Any]:
    """Return the fields of an `Outcome` that the agent answers."""
    if not callable(getattr(agent, "act", None)):
        raise BadAgent(f"train returned {type(agent).__name__}, which has no act(obs, deterministic)")
    seen = sorted({s for s, _ in ledger.all}) or list(range(world.states))
    answers: dict[str, Any] = {"values": {}, "q": {}, "greedy": {}, "drawn": {}, "greedy_varies": 0}
    shape = _shape(world, kind)
    for state in seen:
        obs = np.array(world.observations[state], dtype=np.float32)
        under_way("act")
        answers["greedy"][state] = _act(agent, obs, True, shape)
        answers["drawn"][state] = [_act(agent, obs, False, shape) for _ in range(DRAWS)]
        if state == seen[0]:
            again = [_act(agent, obs, True, shape) for _ in range(REPEATS)]
            answers["greedy_varies"] = sum(not np.allclose(a, answers["greedy"][state]) for a in again)
        if callable(getattr(agent, "value", None)):
            under_way("value")
            answers["values"][state] = _scalar(agent.value(obs.copy()), "value")
        if callable(getattr(agent, "q", None)):
            under_way("q")
            answers["q"][state] = [
                _scalar(agent.q(obs.copy(), _as_action(world.example(kind, c), kind, shape)), "q")
                for c in range(world.cells)
            ]
    for name in ("gamma", "temperature"):
        number = getattr(agent, name, None)
        if isinstance(number, int | float):
            answers[name] = float(number)
    return answers


def spread_of(actions: list[Any], world: World) -> list[float]:
    """Return the standard deviation of continuous actions per dimension, in half-ranges [A]."""
    if len(actions) < 32:
        return []
    table = np.asarray(actions, dtype=float).reshape(len(actions), -1)
    half = (np.array(world.high) - np.array(world.low)) / 2
    return [float(v) for v in table.std(axis=0) / half]


def _shape(world: World, kind: Kind) -> tuple[int, ...]:
    if kind == "continuous":
        return (len(world.low),)
    return (len(world.choices),) if world.choices else ()


def _act(agent: Any, obs: Any, deterministic: bool, shape: tuple[int, ...]) -> list[float]:
    action = np.asarray(_to_numpy(agent.act(obs.copy(), deterministic)), dtype=float).reshape(-1)
    wanted = max(int(np.prod(shape)), 1)
    if action.size != wanted:
        raise BadAgent(f"act returned {action.size} numbers for one observation, the action space has {wanted}")
    return [float(a) for a in action]


def _as_action(flat: list[float] | list[int], kind: Kind, shape: tuple[int, ...]) -> Any:
    array = np.array(flat, dtype=np.float32 if kind == "continuous" else np.int64).reshape(shape)
    return array if shape else int(array)


def _scalar(number: Any, call: str) -> float:
    array = np.asarray(_to_numpy(number), dtype=float).reshape(-1)
    if array.size != 1:
        raise BadAgent(f"{call} returned {array.size} numbers for one observation")
    return float(array[0]) if math.isfinite(array[0]) else math.nan


def _to_numpy(number: Any) -> Any:
    return number.detach().cpu().numpy() if hasattr(number, "detach") else number
