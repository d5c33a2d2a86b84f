"""Does what an action does differ between episodes, in a way that no observation shows?

A sign or a strength that is drawn at reset cannot be told from the step before alone: it is a ratio of two steps. So
the effect of each action entry is estimated from the first half of an episode, and its product with the action is
offered to the forecast of the second half. Only what the observation does not show makes the forecast better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .columns import columns_of
from .predictability import held_out_r2
from .transitions import Transitions, forecast_of, transitions_of
from .world import Array, World

LEAST_HALF = 8
"""Steps from which the effect of an action is estimated."""
LEAST_EPISODES = 9
"""A third of them is held out."""
MOST_ACTIONS = 20
MOST_COLUMNS = 12
"""Observation entries that are forecast: those of whose change the effects could explain the most."""
HELD_OUT = 3
"""Every third episode is judged and not fitted."""


@dataclass(frozen=True)
class Mode:
    """The observation entry whose forecast gains most from knowing the episode."""

    place: int
    """Which of the kept columns."""
    r2_markov: float
    r2_mode: float
    episodes: int

    @property
    def left_frac(self) -> float:
        """What is left of the unexplained share when the episode is known."""
        return (1.0 - self.r2_mode) / max(1.0 - self.r2_markov, 1e-9)


def mode_of(world: World, below: float) -> Mode | None:
    """Return the entry that gains most; None where too little was recorded.

    Only entries whose R² from observation and action is under `below` are looked at.
    """
    forecast, t = forecast_of(world), transitions_of(world)
    if forecast is None or t.action.shape[1] > MOST_ACTIONS:
        return None
    late, effects = _second_halves(t)
    numbers = np.unique(t.episode[late])
    if len(numbers) < LEAST_EPISODES:
        return None
    kept = columns_of(world).continuous[t.columns] & (forecast.change < below)
    held_out = np.searchsorted(numbers, t.episode[late]) % HELD_OUT == HELD_OUT - 1
    change, action = (t.after - t.now)[late], t.action[late]
    effects = effects[late]
    plain = np.concatenate([t.now[late], action], axis=1)
    acted = np.einsum("nda,na->nd", effects, action)
    could = np.where(kept, acted.var(axis=0) / np.maximum(change.var(axis=0), 1e-300), 0.0)
    found = list[Mode]()
    for place in np.argsort(-could)[:MOST_COLUMNS]:
        if could[place] > 0:
            told = np.concatenate([plain, effects[:, place] * action], axis=1)
            target = change[:, [place]]
            before, after = (float(held_out_r2(x, target, held_out)[0]) for x in (plain, told))
            found.append(Mode(int(place), before, after, len(numbers)))
    sure = [m for m in found if np.isfinite(m.r2_mode - m.r2_markov)]
    return min(sure, key=lambda m: m.left_frac, default=None)


def _second_halves(t: Transitions) -> tuple[NDArray[np.bool_], Array]:
    """Rows of second halves [n], and the effect of each action entry on each column in the first half [n, D, A]."""
    late = np.zeros(len(t.now), dtype=np.bool_)
    effects = np.zeros((len(t.now), t.now.shape[1], t.action.shape[1]))
    change = t.after - t.now
    for number in np.unique(t.episode):
        rows = np.flatnonzero(t.episode == number)
        first, second = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        if len(first) >= LEAST_HALF:
            late[second] = True
            effects[second] = slopes(change[first], t.action[first])
    return late, effects


def slopes(change: Array, action: Array) -> Array:
    """Slope of each column of `change` [n, D] on each of `action` [n, A] alone [D, A]; 0 for actions without spread."""
    centred = action - action.mean(axis=0)
    power = (centred**2).sum(axis=0)
    return (change - change.mean(axis=0)).T @ centred / np.where(power > 1e-12, power, np.inf)
