"""What an update is fed beside what the environment gave and got: the same steps, once outside and once inside.

Between the two lie wrappers, normalisers, buffers and the user's own code, whose mistakes leave the environment as it
was. Each quantity is an identity where these are right: what is stored is what was exchanged, entry by entry, but for a
scale and an offset that hardly move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .exchanged import KEPT, Exchanged, Taken
from .transitions import TINY, Floats

LEAST = 8
"""Steps that are compared at least. Engineering choice: fewer hardly vary."""
MEMORY = 0.9
"""What of the spread so far stays with every row. Engineering choice, as in `world`."""
EXACT = 0.99
"""Share of the variance from which on nobody asks whether a cut-off explains the rest."""
ROUNDING = 1e-4
"""Spread, as a share of the size of the numbers, that is taken for rounding: they are stored in single precision."""


@dataclass(frozen=True)
class Stored:
    """The newest steps as the update gets them, in the order in which they were taken, oldest first; None: unknown."""

    obs: NDArray[np.generic] | None = None
    """[n, D]."""
    action: NDArray[np.generic] | None = None
    """As the trainer means the environment to get it, but for a scale [n, A]."""
    reward: NDArray[np.generic] | None = None
    """[n]."""
    ended: NDArray[np.generic] | None = None
    """[n]."""
    bootstrapped: bool = False
    """Whether the value of what follows was added to the reward where an episode was cut off."""


class HandedOn:
    """Compares the steps of each row with those of the environment; `count` of the trainer and of the world must agree.

    Where the world saw another number of steps since the last row (it watches some copies only, or those of an
    evaluation too), nothing can be said.
    """

    def __init__(self) -> None:
        self._since: tuple[int, int] | None = None
        self._obs, self._action = Map(), Map()

    def due(self, exchanged: Exchanged | None, steps: int, held: int) -> int:
        """Return how many of the newest steps can be compared, 0 for none.

        Args:
            exchanged: What the world saw; None where there is none.
            steps: Steps of all copies that the trainer has counted.
            held: How many of them it still holds.
        """
        if exchanged is None:
            return 0
        before, self._since = self._since, (exchanged.count, steps)
        if before is None or exchanged.count - before[0] != steps - before[1]:
            return 0
        count = min(KEPT, held, steps - before[1])
        return count if count >= LEAST else 0

    def apart(self, given: Floats, found: Floats) -> tuple[float | None, float | None]:
        """Return what `Map.apart` says of observations [n, D] by the map of the last row."""
        return self._obs.apart(given, found)

    def numbers(self, taken: Taken | None, stored: Stored) -> dict[str, float]:
        """Return what became of the steps, under canonical names."""
        if taken is None:
            return {}
        found = _ends(taken, stored) | _rewards(taken, stored)
        if stored.obs is not None:
            found |= _named("data/obs", self._obs.take(taken.obs, _table(stored.obs)))
        if stored.action is None:
            return found
        action = _table(stored.action)
        if _whole(taken.action) and _whole(action):
            return found | {"data/action_fit": float((taken.action == action).mean())}
        return found | _named("data/action", self._action.take(taken.action, action))


class Map:
    """The scale and offset, entry by entry, by which one table [n, D] became another, and how far they moved.

    An entry that followed exactly once and does not in a row (it hardly varies, while a normaliser moves on) has no map
    after that row: one fitted to it would say of the next that it is far off.
    """

    def __init__(self) -> None:
        self._usual: tuple[Floats, Floats, NDArray[np.bool_]] | None = None
        """Slope, offset and whether they are known, each [D]."""
        self._exact: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        """Which entries followed exactly in some row [D]."""
        self._spread: Floats | None = None
        """Variance of what is found so far [D]."""

    def take(self, given: Floats, found: Floats) -> tuple[float | None, float | None]:
        """Return the share of the variance of `found` that follows from `given`, and how far off the last map is.

        The first is the mean over entries that vary in either, but for those that stand still in `given` and move in
        `found` by less than a hundredth of their variance so far: a normaliser that moves on. The second is the root
        mean square over those whose map is known, in standard deviations of `found` now or so far, whichever are
        larger: what stands still for a while is no measure of distance.
        """
        if given.shape != found.shape or not (np.isfinite(given).all() and np.isfinite(found).all()):
            return None, None
        moves, shown = varied(given), varied(found)
        both = moves & shown
        off, away = given - given.mean(0), found - found.mean(0)
        together, square, spread = (off * away).mean(0), (off * off).mean(0), (away * away).mean(0)
        slope = together / np.maximum(square, TINY * TINY)
        fit = slope * together / np.maximum(spread, TINY * TINY)
        follows = fit >= EXACT
        for place in np.flatnonzero(both & (fit < EXACT)):
            fit[place] = max(float(fit[place]), ordered(given[:, place], found[:, place]))
        offset = found.mean(0) - slope * given.mean(0)
        before = spread if self._spread is None or self._spread.size != spread.size else self._spread
        usual = self._usual
        if usual is None or usual[0].size != slope.size:
            usual, shift, self._exact = (slope, offset, both), None, follows & both
        else:
            shift = _apart(usual, given, found, shown, np.maximum(spread, before))
        either = moves | (shown & (spread > (1 - EXACT) * before))
        self._spread = MEMORY * before + (1 - MEMORY) * spread
        lost = both & self._exact & ~follows
        self._exact = self._exact | (both & follows)
        mapped = np.where(both, np.array([slope, offset]), np.array(usual[:2]))
        self._usual = mapped[0], mapped[1], (both | usual[2]) & ~lost
        return (float(np.where(both, fit, 0.0)[either].mean()) if either.any() else None), shift

    def apart(self, given: Floats, found: Floats) -> tuple[float | None, float | None]:
        """Return what `take` would, but for cut-offs, and follow nothing."""
        usual, before = self._usual, self._spread
        if usual is None or before is None or given.shape != found.shape or given.shape[1] != before.size:
            return None, None
        if not (np.isfinite(given).all() and np.isfinite(found).all()):
            return None, None
        both = varied(given) & varied(found) & usual[2]
        if not both.any():
            return None, None
        off, away = given - given.mean(0), found - found.mean(0)
        together, square, spread = (off * away).mean(0), (off * off).mean(0), (away * away).mean(0)
        fit: Floats = together[both] ** 2 / (square * spread)[both]
        return float(fit.mean()), _apart(usual, given, found, both, np.maximum(spread, before))


def _apart(
    usual: tuple[Floats, Floats, NDArray[np.bool_]],
    given: Floats,
    found: Floats,
    shown: NDArray[np.bool_],
    variance: Floats,
) -> float | None:
    slope, offset, known = usual
    places = known & shown
    if not places.any():
        return None
    error = (offset + slope * given - found)[:, places]
    shares: Floats = (error * error).mean(0) / variance[places]
    return float(shares.mean()) ** 0.5


def ordered(given: Floats, found: Floats) -> float:
    """Return the share of the variance of `found` [n] that follows from `given` [n] by the best rising function.

    A cut-off at a bound is one: what it takes away is no mistake. By pooling neighbours that are out of order (Barlow
    et al. 1972, "Statistical Inference under Order Restrictions", section 1.2).
    """
    _, place = np.unique(given, return_inverse=True)
    count = np.bincount(place).astype(np.float64)
    levels: list[tuple[float, float]] = []  # mean, number
    for level in zip((np.bincount(place, found) / count).tolist(), count.tolist(), strict=True):
        levels.append(level)
        while len(levels) > 1 and levels[-2][0] > levels[-1][0]:
            (one, few), (other, more) = levels.pop(), levels.pop()
            levels.append(((one * few + other * more) / (few + more), few + more))
    middle = float(found.mean())
    fitted = sum(number * (mean - middle) ** 2 for mean, number in levels)
    return fitted / (found.size * float(found.var()))


def varied(table: Floats) -> NDArray[np.bool_]:
    """Return which columns [D] of a table [n, D] vary by more than rounding."""
    return table.std(0) > np.maximum(TINY, ROUNDING * np.sqrt(cast(Floats, (table * table).mean(0))))


def _rewards(taken: Taken, stored: Stored) -> dict[str, float]:
    """Whether the rewards are those of their own steps, and how many times as large they are."""
    if stored.reward is None:
        return {}
    given, found = taken.reward, _table(stored.reward)[:, 0]
    kept = np.isfinite(given) & np.isfinite(found)
    if stored.bootstrapped:
        ends = taken.ended if stored.ended is None else taken.ended | (_table(stored.ended)[:, 0] != 0)
        kept &= taken.terminated | ~ends
    if kept.sum() < LEAST:
        return {}
    given, found = given[kept], found[kept]
    moves, shown = varied(given[:, None])[0], varied(found[:, None])[0]
    if not moves and not shown:
        size = float((given * given).mean()) ** 0.5
        return {"data/reward_gain": float(found.mean() * np.sign(given.mean())) / size} if size > TINY else {}
    if not moves:  # a normaliser that follows
        return {}
    if not shown:
        return {"data/reward_fit": 0.0}
    together: Floats = (given - given.mean()) * (found - found.mean())
    slope = float(together.mean())
    fit = slope * slope / float(given.var() * found.var())
    return {
        "data/reward_fit": fit if fit >= EXACT else max(fit, ordered(given, found)),
        "data/reward_gain": slope / float(given.var()),
    }


def _ends(taken: Taken, stored: Stored) -> dict[str, float]:
    """Share of the episodes' ends that are stored as such, and of the stored ones that were none."""
    if stored.ended is None:
        return {}
    ended, kept = taken.ended, _table(stored.ended)[:, 0] != 0
    found = {"data/end_kept_frac": float(kept[ended].mean())} if ended.any() else {}
    return found | ({"data/end_added_frac": float((~ended[kept]).mean())} if kept.any() else {})


def _named(prefix: str, found: tuple[float | None, float | None]) -> dict[str, float]:
    names = (f"{prefix}_fit", f"{prefix}_shift")
    return {name: value for name, value in zip(names, found, strict=True) if value is not None}


def _table(values: NDArray[np.generic]) -> Floats:
    table: Floats = np.asarray(values, dtype=np.float64)
    return table.reshape(len(values), -1)


def _whole(table: Floats) -> bool:
    """Whether a table holds choices: one whole number a step."""
    return table.shape[1] == 1 and bool((table == np.round(table)).all())
