"""How far two agents behave alike on the same observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .training import acting, seed_everything

PROBED = 64
"""Observations on which agents are compared."""
DRAWS = 4
"""Actions drawn for each of them, with the same seed before and after: they move where the greedy action does not."""
SAME = 1e-6
"""Relative difference of numbers that counts as none: float32 rounding."""


def answers(agent: Any, observations: Sequence[Any]) -> list[list[float]]:
    """Return what `agent` says of each observation: its greedy action, draws, and its value where it has one."""
    rows: list[list[float]] = []
    for index, observation in enumerate(observations[:PROBED]):
        seed_everything(index)
        said = [acting(agent, True)(observation), *(acting(agent, False)(observation) for _ in range(DRAWS))]
        row = [float(a) for one in said for a in np.asarray(one, dtype=float).reshape(-1)]
        if callable(getattr(agent, "value", None)):
            row += [float(v) for v in np.asarray(_plain(agent.value(np.array(observation, copy=True)))).reshape(-1)]
        rows.append(row)
    return rows


def differing_frac(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> float:
    """Return the share of observations of which the answers differ."""
    pairs = list(zip(before, after, strict=True))
    return sum(not _same(a, b) for a, b in pairs) / max(len(pairs), 1)


def _same(a: Sequence[float], b: Sequence[float]) -> bool:
    return len(a) == len(b) and bool(np.allclose(a, b, rtol=SAME, atol=SAME, equal_nan=True))


def _plain(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value
