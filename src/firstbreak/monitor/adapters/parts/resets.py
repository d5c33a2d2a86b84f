"""Whether an episode that ended was followed by a new one, or by the very state in which it ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from statistics import median
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

METRIC = "env/unreset_frac"
AT_ONCE = range(2, 5)
"""Which of the ends on end without a new beginning are told at once, counted from 1 ..."""
BEFORE = 8
"""... where so many before were followed by one. Engineering choices."""
KEPT = 64
"""Distances that say what is usual. Engineering choice."""
NEAR = 0.01
"""Share of the usual distance that is none. A running mean moves by less once some hundred steps were seen."""
MOST_ENTRIES = 4096
"""Larger observations (images) are not compared, as in `replay_chain`."""


class Resets:
    """Counts ends of episodes, and those after which the next begins where the last one ended.

    That is, at a distance that is nothing beside the usual one from an end to the next beginning: a normaliser whose
    statistics move shows the same state a little differently.
    """

    def __init__(self) -> None:
        self._ends = self._same = self._run = self._fresh = 0
        self._usual = 0.0
        """The median of `_apart`, taken now and then; 0 at first, when only the very same observation is the same."""
        self._apart: deque[float] = deque(maxlen=KEPT)
        """Distances from ends to the beginnings that followed."""

    def add(self, last: NDArray[Any], first: NDArray[Any]) -> bool:
        """Take the last observation of an episode and the first after it; return whether to tell of it at once."""
        if last.shape != first.shape or last.size > MOST_ENTRIES:
            return False
        return self.add_distance(float(np.abs(np.subtract(first, last, dtype=np.float64)).sum()))

    def add_distance(self, apart: float) -> bool:
        """Take how far apart both are, summed over their entries; return whether to tell of it at once."""
        known = len(self._apart) >= BEFORE
        same = apart <= NEAR * self._usual  # NaN is like nothing
        self._ends, self._same = self._ends + 1, self._same + same
        self._run = self._run + 1 if same else 0
        if not same and isfinite(apart):
            self._apart.append(apart)
            self._fresh += 1
            if self._fresh % BEFORE == 0:
                self._usual = median(self._apart)
        return known and self._run in AT_ONCE

    def add_all(self, pairs: Iterable[tuple[Any, Any]]) -> bool:
        """Take several; return whether to tell of any at once."""
        at_once = [self.add(cast(NDArray[Any], last), first) for last, first in pairs if isinstance(last, np.ndarray)]
        return any(at_once)

    def take(self) -> dict[str, float]:
        """Return the share of the ends since the last call that were followed by no new beginning."""
        ends, same = self._ends, self._same
        self._ends = self._same = 0
        return {METRIC: same / ends} if ends else {}


def of_locals(resets: Resets, chosen: Mapping[str, Any]) -> bool:
    """Take one step of a loop of Stable-Baselines3; return whether to tell of it at once."""
    first, over = chosen.get("new_obs"), cast(Any, chosen.get("dones"))
    if not isinstance(first, np.ndarray) or not isinstance(over, np.ndarray) or not np.count_nonzero(cast(Any, over)):
        return False
    ended = over.nonzero()[0].tolist()
    return resets.add_all((chosen["infos"][place].get("terminal_observation"), first[place]) for place in ended)


def watch(env: Any, resets: Resets, harmless: Callable[[], Any], tell: Callable[[], None]) -> None:
    """Look at each reset of a reference trainer's environment that follows an end; its other steps cost nothing.

    Args:
        env: Its copies of the environment, which keep the newest observations as `rows` [N, D].
        resets: Counts.
        harmless: Makes a context in which nothing that fails reaches the training.
        tell: Called where an end is to be told at once.
    """
    usual = env._reset

    def reset(asked: Any = None, **options: Any) -> Any:
        last = env.rows
        begun = usual(asked, **options)
        with harmless():
            over = None if asked is None else asked.get("_reset", None)
            if over is not None:
                pairs = zip(over.reshape(-1).tolist(), last, env.rows, strict=True)
                if resets.add_all((end, first) for ended, end, first in pairs if ended):
                    tell()
        return begun

    env._reset = reset
