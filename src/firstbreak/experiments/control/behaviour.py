"""How far two agents behave alike on the same observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .training import acting, seed_everything

PROBED = 32
"""Observations on which agents are compared. Engineering default: what moves an agent by itself moves it on most."""
DRAWS = 2
"""Actions drawn for each of them, with the same seed before and after: they move where the greedy action does not."""
SAME = 1e-6
"""Relative difference of numbers that counts as none: float32 rounding."""


def answers(agent: Any, observations: Sequence[Any]) -> list[list[float]]:
    """Return what `agent` says of each observation: its greedy action, draws, and its values where it has some.

    An agent with a Q is asked for the Q of that action in place of draws: how often it acts at random follows a
    schedule, which goes on whether it learns or not.
    """
    rows: list[list[float]] = []
    seed_everything(0)
    q = getattr(agent, "q", None)
    for observation in observations[:PROBED]:
        greedy = acting(agent, True)(observation)
        said = [greedy] if callable(q) else [greedy, *(acting(agent, False)(observation) for _ in range(DRAWS))]
        row = _numbers(said)
        if callable(q):
            row += _numbers([q(np.array(observation, copy=True), greedy)])
        if callable(getattr(agent, "value", None)):
            row += _numbers([agent.value(np.array(observation, copy=True))])
        rows.append(row)
    return rows


def _numbers(said: Sequence[Any]) -> list[float]:
    return [float(v) for one in said for v in np.asarray(_plain(one), dtype=float).reshape(-1)]


def differing_frac(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> float:
    """Return the share of observations of which the answers differ."""
    pairs = list(zip(before, after, strict=True))
    return sum(not _same(a, b) for a, b in pairs) / max(len(pairs), 1)


def _same(a: Sequence[float], b: Sequence[float]) -> bool:
    return len(a) == len(b) and bool(np.allclose(a, b, rtol=SAME, atol=SAME, equal_nan=True))


def _plain(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value
