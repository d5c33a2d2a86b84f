"""The newest steps that environments really took, for whoever asks what became of them in the trainer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .held import Step, table
from .transitions import Floats

KEPT = 512
"""Steps that are remembered. Engineering choice: what adapters look at of a rollout."""


@dataclass(frozen=True)
class Taken:
    """Steps in the order in which they were taken, oldest first."""

    obs: Floats
    """Before each step [n, D]."""
    action: Floats
    """As the environment got it [n, A]."""
    reward: Floats
    """[n]."""
    terminated: NDArray[np.bool_]
    """[n]."""
    truncated: NDArray[np.bool_]
    """[n]."""

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Where an episode ended [n]."""
        return self.terminated | self.truncated


class Exchanged:
    """A ring of the newest steps of all copies of an environment in this process."""

    def __init__(self) -> None:
        self.count = 0
        """Steps taken in all."""
        self._steps: deque[Step] = deque(maxlen=KEPT)

    def add(self, step: Step) -> None:
        """Keep one step; what is no small array of numbers is counted alone."""
        self.count += 1
        self._steps.append(step)

    def last(self, count: int) -> Taken | None:
        """Return the newest `count` steps; None where so many are not held or they differ in form."""
        columns = self._newest(count)
        if columns is None:
            return None
        obs, action, reward, terminated, truncated, _ = columns
        return Taken(
            table(obs),
            table(action),
            np.array(reward, dtype=np.float64),
            np.array(terminated, dtype=np.bool_),
            np.array(truncated, dtype=np.bool_),
        )

    def observations(self, count: int) -> Floats | None:
        """Return what `last` holds of observations [n, D], which are asked for more often than all the rest."""
        columns = self._newest(count)
        return None if columns is None else table(columns[0])

    def _newest(self, count: int) -> tuple[Any, ...] | None:
        """Return the newest `count` steps column by column."""
        if not 0 < count <= len(self._steps):
            return None
        columns = tuple(zip(*islice(self._steps, len(self._steps) - count, None), strict=True))
        obs, action = columns[:2]
        forms = {None if one is None else one.shape for one in obs}
        return None if None in forms or len(forms) != 1 or len({one.shape for one in action}) != 1 else columns


_OF: WeakKeyDictionary[Any, Exchanged | None] = WeakKeyDictionary()


def note(monitor: Any, exchanged: Exchanged) -> None:
    """Let adapters of `monitor` find the steps of its world; of two worlds, whose steps are mixed, none is found."""
    _OF[monitor] = None if monitor in _OF else exchanged


def of(monitor: Any) -> Exchanged | None:
    """Return the steps that the one world of `monitor` saw; None where there is no such world."""
    return _OF.get(monitor)
