"""`summarise`: the figures of a stream of episodes, of which only a few are kept whole."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from .coverage import Grid, effective_number, entropy_nats
from .ranges import Ranges
from .states import States
from .summary import Summary
from .trajectory import Floats, Trajectory

KEPT = 3
"""Episodes kept of each kind: highest, lowest and drawn at random."""


class _Gathering:
    def __init__(self, kept: int, seed: int) -> None:
        self.kept = kept
        self.random = np.random.default_rng(seed)
        self.returns: list[float] = []
        self.lengths: list[int] = []
        self.count: Counter[str] = Counter()
        self.prints: Counter[bytes] = Counter()
        self.high: list[Trajectory] = []
        self.low: list[Trajectory] = []
        self.drawn: list[Trajectory] = []
        self.actions: Ranges | None = None
        self.observations: Ranges | None = None
        self.continuous = False
        self.states = States(seed=seed)

    def add(self, one: Trajectory) -> None:
        place = len(self.returns)
        self.returns.append(one.paid)
        self.lengths.append(one.steps)
        self.count["terminated"] += bool(one.terminated)
        self.count["truncated"] += bool(one.truncated)
        self.prints[_fingerprint(one)] += 1
        actions = _columns(one.actions)
        parts = (one.observations, actions, one.rewards)
        self.count["not finite"] += not all(np.isfinite(part).all() for part in parts)
        self.count["one action"] += one.steps > 1 and bool((actions == actions[0]).all())
        self.continuous |= not one.discrete
        self.actions = self.actions or Ranges(actions.shape[1])
        self.observations = self.observations or Ranges(one.observations.shape[1])
        for ranges, values in ((self.actions, actions), (self.observations, one.observations)):
            if values.shape[1] == ranges.low.size:
                ranges.add(values)
            else:
                self.count["another width"] += 1
        if one.observations.shape[1]:
            self.states.add(one.observations, place)
        self._keep(one, place)

    def _keep(self, one: Trajectory, place: int) -> None:
        if not math.isnan(one.paid):
            self.high = sorted([*self.high, one], key=lambda t: -t.paid)[: self.kept]
            self.low = sorted([*self.low, one], key=lambda t: t.paid)[: self.kept]
        if len(self.drawn) < self.kept:
            self.drawn.append(one)
        elif (slot := int(self.random.integers(place + 1))) < self.kept:
            self.drawn[slot] = one

    def summary(self) -> Summary:
        returns = np.array(self.returns, np.float64)
        states, episodes = self.states.drawn()
        coverage = _coverage(states, returns[episodes] if returns.size else np.empty(0))
        actions = self.actions or Ranges(0)
        odd = self.count["another width"]
        notes = (f"{odd} arrays are of another width than the first episode's and were left out.",) if odd else ()
        return Summary(
            returns=returns,
            lengths_steps=np.array(self.lengths, np.int64),
            terminated=self.count["terminated"],
            truncated=self.count["truncated"],
            high=tuple(self.high),
            low=tuple(self.low),
            drawn=tuple(self.drawn),
            repeated=sum(self.prints.values()) - len(self.prints),
            most_repeats=max(self.prints.values(), default=0),
            one_action=self.count["one action"],
            dead_actions=actions.dead,
            dead_observations=self.observations.dead if self.observations else (),
            at_bound_frac=actions.at_bound_frac if self.continuous else math.nan,
            not_finite=self.count["not finite"],
            cells=int(coverage[0]),
            effective_cells=coverage[1],
            effective_cells_high=coverage[2],
            effective_cells_low=coverage[3],
            entropy_nats=coverage[4],
            notes=notes,
        )


def summarise(trajectories: Iterable[Trajectory], *, kept: int = KEPT, seed: int = 0) -> Summary:
    """Return the figures of all episodes.

    Args:
        trajectories: Read once; `kept` of each kind stay in memory.
        kept: Episodes kept of the highest and of the lowest return, and drawn at random.
        seed: Of what is drawn.
    """
    gathering = _Gathering(kept, seed)
    for one in trajectories:
        gathering.add(one)
    return gathering.summary()


def _columns(actions: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Floats:
    """Return actions as numbers [T, dimensions]."""
    return np.asarray(actions, np.float64).reshape(len(actions), -1)


def _fingerprint(one: Trajectory) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in (one.observations, np.ascontiguousarray(one.actions), one.rewards):
        digest.update(str(part.shape).encode() + part.tobytes())
    return digest.digest()


def _coverage(states: Floats, returns: Floats) -> tuple[float, float, float, float, float]:
    """Return the cells, the effective number of all, of the better and of the worse half, and the entropy."""
    finite = states[np.isfinite(states).all(axis=1)]
    if len(finite) < 2 or not states.shape[1]:
        return 0.0, math.nan, math.nan, math.nan, math.nan
    grid = Grid(states)
    spread = finite.std(axis=0)
    scaled = states / np.where(spread > 1e-12, spread, 1.0)
    middle = np.nanmedian(returns) if np.isfinite(returns).any() else math.nan
    better, worse = states[returns > middle], states[returns < middle]
    size = min(len(better), len(worse))
    halves = [effective_number(grid.counts(half[:: max(1, len(half) // size)][:size])) if size else math.nan
              for half in (better, worse)]  # fmt: skip
    return float(grid.cells), effective_number(grid.counts(states)), halves[0], halves[1], entropy_nats(scaled)
