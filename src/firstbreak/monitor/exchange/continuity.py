"""What holds of every world by construction, until it breaks: asked step by step, told at once.

Entries that always move go on moving; a step that ends no episode does not lead to where episodes begin; an episode
that ends where a bound is passed ends nowhere else. None of this is a statistic of a row, so nothing waits for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from . import ends, restarts, stuck
from .held import Held, Step
from .transitions import Floats

Says = Callable[[Floats, Floats], tuple[Floats, Floats] | None]
"""What observations [m, D] change after actions [m, A], by what was learned, and the usual size of that [D]; None where
it is not known."""
STRETCH = 16
"""Steps that are asked about together. Engineering choice, as in `early`."""
AT_ONCE = 2
"""Rows of its own that what is new may have, until it goes with the others."""


class Continuity:
    """Asks about the steps of all copies of an environment whose observations have `width` entries."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._stuck, self._restarts, self._ends = stuck.Stuck(width), restarts.Restarts(width), ends.Ends(width)
        self._parts = list[tuple[Sequence[Step], Floats, Floats, Floats]]()
        self._waiting = 0
        self._found = dict[str, float]()
        """The most of each since the last `take`."""
        self._fresh = False
        self._told = 0

    def begun(self, obs: Held) -> None:
        """Take the first observation of an episode."""
        if obs is not None and obs.size == self.width:
            self._restarts.begun(np.array(obs, dtype=np.float64).reshape(-1))

    def ended(self, last: Held, reward: float, steps: int, *, terminated: bool) -> None:
        """Take the last observation of an episode of so many steps, and the last reward."""
        if last is None or last.size != self.width:
            return
        if not terminated:
            self._ends.lasted(steps)
            return
        share = self._ends.ended(np.array(last, dtype=np.float64).reshape(-1), reward, steps)
        if share is not None:
            self._tell(ends.METRIC, share, ends.AT_ONCE)

    def row(self, missed: Floats | None) -> None:
        """Take the mean squared error [D] with which a row's observations were foreseen; None where nothing was."""
        if missed is not None and missed.size == self.width:
            self._restarts.row(missed)

    def step(self, steps: Sequence[Step], before: Floats, action: Floats, after: Floats, says: Says) -> None:
        """Take some steps, and the tables made of them [m, D], [m, A] and [m, D]."""
        self._parts.append((steps, before, action, after))
        self._waiting += len(after)
        if self._waiting < STRETCH:
            return
        parts, self._parts, self._waiting = self._parts, [], 0
        if len({part[2].shape[1] for part in parts}) != 1:
            return
        steps, before, action, after = parts[0]
        if len(parts) > 1:
            steps = [step for part in parts for step in part[0]]
            before, action, after = (np.concatenate(one) for one in list(zip(*parts, strict=True))[1:])
        self._stretch(steps, before, action, after, says)

    def _stretch(self, steps: Sequence[Step], before: Floats, action: Floats, after: Floats, says: Says) -> None:
        rewards, goes_on, stays = [step[2] for step in steps], None, after
        if any(step[3] or step[4] for step in steps):
            goes_on = np.array([not (step[3] or step[4]) for step in steps])
            stays = after[[not step[3] for step in steps]]
        self._ends.moved(before, after)
        still = self._stuck.stretch(before, after, self._ends.low, self._ends.high)
        if still is not None:
            known = says(before, action)
            still = still if known is None else still & stuck.foretold(*known)
            self._tell(stuck.METRIC, int(np.count_nonzero(still)) / self.width)

        def missed() -> Floats | None:
            known = says(before, action)
            return None if known is None else after - before - known[0]

        share = self._restarts.stretch(before, after, rewards, goes_on, missed)
        if share:
            self._tell(restarts.METRIC, share, restarts.AT_ONCE)
        if len(stays):
            self._ends.stretch(stays)

    def _tell(self, metric: str, value: float, least: float = 0.0) -> None:
        """Note a value, and that it is news where it is more than was told and at least `least`."""
        most = self._found.get(metric, 0.0)
        self._found[metric] = max(value, most)
        self._fresh |= value > most and value >= least

    def fresh(self) -> dict[str, float]:
        """Return what is to be told at once, if there is anything."""
        if not self._fresh or self._told >= AT_ONCE:
            return {}
        self._fresh, self._told = False, self._told + 1
        return dict(self._found)

    def take(self) -> dict[str, float]:
        """Return the most of each since the last call; 0 of what did not happen, from the first row on: a rise of what
        was never told before would be looked at no sooner than all else."""
        found, self._found, self._fresh, self._told = self._found, {}, False, 0
        share = self._ends.share
        return {stuck.METRIC: 0.0, restarts.METRIC: 0.0} | ({} if share is None else {ends.METRIC: share}) | found
