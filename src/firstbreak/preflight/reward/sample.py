"""`RewardSample`: what the reward checks look at: rewards, and whatever is known about where each came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..shaping import Telescoping
from .judges import Better, Judge, judge_of, proper

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Replay:
    """What two plays from one seed paid: `kind` is `other_actions`, `fresh_again` or `after_episode`.

    `other_actions`: fresh environments, different random actions. `fresh_again`: fresh environments, the same actions.
    `after_episode`: a fresh environment against one that has played another episode before, the same actions.
    """

    kind: str
    first: Array
    """Rewards [L1]."""
    second: Array
    """Rewards [L2]."""
    same_observations: bool
    """Whether the observations agreed over the common length."""


@dataclass(frozen=True, eq=False)
class RewardSample:
    """Rewards [N], one per step, episode or response, and optional columns of the same length.

    Rows of one episode must be in order. Booleans and numbers are converted; everything but `rewards` may be missing.
    """

    rewards: Any
    better: Better = field(default_factory=dict[str, str])
    """Which way references and metrics are better, by name, "" for all: `higher` or `lower`; beats their names."""
    episode: Any = None
    """Which episode each row belongs to; with it, rows are steps unless every episode has one row."""
    group: Any = None
    """Which prompt (or other set of rival samples) each row belongs to."""
    reference: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Human or reference scores by name [N]."""
    metric: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Task metrics by name [N]: what the task is really about (success, distance to the goal)."""
    components: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Parts of the reward by name [N]."""
    components_named: bool = True
    """Whether somebody said that these are the parts, rather than their names."""
    length: Any = None
    """Tokens or steps of each response [N]."""
    update: Any = None
    """Training step or update each row was collected at [N]."""
    observations: Any = None
    """[N, D]"""
    actions: Any = None
    """[N, A]"""
    next_observations: Any = None
    """[N, D]"""
    terminated: Any = None
    """[N] booleans"""
    truncated: Any = None
    """[N] booleans"""
    discrete_actions: bool = False
    time_limit: int | None = None
    gamma: float = 0.99
    source: str = "array"
    """`array`, `table`, or `random play`; what random play does not show is not held against the reward."""
    replays: Sequence[Replay] = ()
    shaping: Telescoping | None = None
    """What was found out about a shaping term on the same steps."""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        rewards = numbers("rewards", self.rewards)
        if rewards.ndim != 1 or not rewards.size:
            raise InputError(f"rewards has shape {list(rewards.shape)}.", "Give one number per step or sample.")
        if not 0.0 <= self.gamma <= 1.0:
            raise InputError(f"gamma is {self.gamma}.", "The discount lies in [0, 1].")
        self._set("rewards", rewards)
        for name in ("length", "update", "observations", "actions", "next_observations"):
            self._set(name, _column(name, getattr(self, name), rewards.size))
        for name in ("terminated", "truncated"):
            column = _column(name, getattr(self, name), rewards.size)
            self._set(name, None if column is None else column.astype(bool))
        for name in ("episode", "group"):
            self._set(name, _labels(name, getattr(self, name), rewards.size))
        for name in ("reference", "metric", "components"):
            given = getattr(self, name)
            self._set(name, {k: _column(f"{name} {k}", v, rewards.size) for k, v in given.items()})
        proper(self.better, (*self.reference, *self.metric))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The rows of each episode; empty when rows are not steps of episodes."""
        if self.episode is None:
            return ()
        cuts = np.flatnonzero(np.diff(self.episode)) + 1
        edges = [0, *cuts.tolist(), self.rewards.size]
        found = tuple(slice(a, b) for a, b in pairwise(edges))
        return found if any(s.stop - s.start > 1 for s in found) else ()

    @cached_property
    def whole(self) -> tuple[slice, ...]:
        """The episodes that ended by themselves; all of them when nothing says how they ended."""
        if self.terminated is None and self.truncated is None:
            return self.slices
        done = np.zeros(self.rewards.size, dtype=bool)
        for flags in (self.terminated, self.truncated):
            if flags is not None:
                done |= flags
        kept = tuple(s for s in self.slices if done[s.stop - 1])
        return kept or self.slices

    @property
    def stepwise(self) -> bool:
        """Whether a row is a step of an episode."""
        return bool(self.slices)

    @property
    def played(self) -> bool:
        """Whether the rows come from random play."""
        return self.source == "random play"

    @cached_property
    def returns(self) -> Array:
        """Undiscounted return of each whole episode [E], or the rewards themselves [N]."""
        return np.array([self.rewards[s].sum() for s in self.whole]) if self.stepwise else self.rewards

    @cached_property
    def discounted(self) -> Array:
        """Discounted return from the first step of each whole episode [E], or the rewards themselves [N]."""
        if not self.stepwise:
            return self.rewards
        return np.array([float(discount(self.rewards[s], self.gamma)[0]) for s in self.whole])

    @property
    def unit(self) -> str:
        """What is compared with what: episodes, or samples."""
        return "episodes" if self.stepwise else "samples"

    def of_units(self, column: Array) -> Array:
        """Return `column` [N] per unit: its mean over each whole episode, or as it is."""
        return np.array([column[s].mean() for s in self.whole]) if self.stepwise else column

    @cached_property
    def judges(self) -> tuple[Judge, ...]:
        """References and task metrics per row [N], turned so that higher is better."""
        return tuple(judge_of(name, values, self.better) for name, values in {**self.reference, **self.metric}.items())

    @cached_property
    def groups(self) -> tuple[Index, ...]:
        """Row numbers of each group with at least two rows."""
        if self.group is None:
            return ()
        order = np.argsort(self.group, kind="stable")
        cuts = np.flatnonzero(np.diff(self.group[order])) + 1
        return tuple(rows for rows in np.split(order, cuts) if rows.size > 1)


def discount(rewards: Array, gamma: float) -> Array:
    """Return-to-go of each step [L] of one episode that is not continued after its last step."""
    out = np.empty(rewards.size)
    total = 0.0
    for t in range(rewards.size - 1, -1, -1):
        total = float(rewards[t]) + gamma * total
        out[t] = total
    return out


def numbers(name: str, values: Any) -> Array:
    """Return `values` as floats.

    Raises:
        InputError: they are not numbers.
    """
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not numeric: {error}.", "Give numbers; leave a missing value as NaN.") from error


def _column(name: str, values: Any, size: int) -> Array | None:
    if values is None:
        return None
    column = numbers(name, values)
    if column.shape[:1] != (size,):
        raise InputError(f"{name} has {column.shape[:1]} rows for {size} rewards.", "Give one row per reward.")
    return column


def _labels(name: str, values: Any, size: int) -> Index | None:
    """Number the labels in order of first appearance [N]."""
    if values is None:
        return None
    numbered: dict[Any, int] = {}
    found = np.array([numbered.setdefault(v, len(numbered)) for v in np.asarray(values).tolist()], dtype=np.int64)
    if found.size != size:
        raise InputError(f"{name} has {found.size} rows for {size} rewards.", "Give one label per reward.")
    return found
