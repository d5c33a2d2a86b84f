"""What an update is fed beside what the environment gave and got: the same steps, once outside and once inside.

Between the two lie wrappers, normalisers, buffers and the user's own code, whose mistakes leave the environment as it
was. Each quantity is an identity where these are right: what is stored is what was exchanged, entry by entry, but for a
scale and an offset that hardly move.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import by_copy
from .exchanged import KEPT, Exchanged, Taken
from .maps import Map, varied
from .transitions import TINY, Floats

LEAST = 8
"""Steps that are compared at least. Engineering choice: fewer hardly vary."""


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
    copy: NDArray[np.intp] | None = None
    """Which copy of the environment took each step [n]."""


def taking_turns(steps: int, copies: int) -> NDArray[np.intp]:
    """Return which copy took each of `steps` [n], where all take one step in turn."""
    return np.arange(steps) % copies


class HandedOn:
    """Compares the steps of each row with those of the environment; `count` of the trainer and of the world must agree.

    Where the world saw another number of steps since the last row (it watches some copies only, or those of an
    evaluation too), nothing can be said.
    """

    def __init__(self) -> None:
        self._since: tuple[int, int] | None = None
        self._obs, self._action = Map(), Map()
        self._apart = by_copy.ByCopy()

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

    def glance(self, given: Floats, found: Floats) -> float | None:
        """Return the share of observations [n, D] that follows, as the next row would say it of these steps alone."""
        return deepcopy(self._obs).take(given, found)[0]

    def numbers(self, taken: Taken | None, stored: Stored) -> dict[str, float]:
        """Return what became of the steps, under canonical names."""
        if taken is None:
            return {}
        found = _ends(taken, stored) | _rewards(taken, stored)
        if stored.obs is not None:
            found |= self._observations(taken.obs, _table(stored.obs), stored.copy)
        if stored.action is None:
            return found
        action = _table(stored.action)
        if _whole(taken.action) and _whole(action):
            return found | {"data/action_fit": float((taken.action == action).mean())}
        return found | _named("data/action", self._action.take(taken.action, action))

    def _observations(self, given: Floats, seen: Floats, copy: NDArray[np.intp] | None) -> dict[str, float]:
        """What became of observations [n, D]; the worst entry is that of a copy where copies can be asked apart."""
        found = _named("data/obs", self._obs.take(given, seen))
        worst = self._obs.worst
        if copy is not None and seen.shape == given.shape:
            found |= _named("data/obs_copy", self._apart.observations(given, seen, copy))
            worst = worst if self._apart.worst is None else self._apart.worst
        return found if worst is None else found | {"data/obs_entry_fit": worst}


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
    worst = None if stored.copy is None else by_copy.rewards(given, found, stored.copy[kept])
    return {
        "data/reward_fit": by_copy.fitted(given, found),
        "data/reward_gain": float(together.mean()) / float(given.var()),
    } | ({} if worst is None else {"data/reward_copy_fit": worst})


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
