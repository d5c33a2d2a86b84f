"""What the checks of trajectories look at: the figures of all episodes, and an even draw of whole ones."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .gathering import KEPT, summarise
from .summary import Summary
from .trajectory import Floats, Trajectory

MOST_EPISODES = 400
"""Whole episodes that are drawn. Engineering default: a share is then known within five points."""
MOST_NUMBERS = 8_000_000
"""Numbers of the drawn episodes together: 64 MB."""

Flags = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Record:
    """The subject of the checks."""

    path: str
    summary: Summary
    drawn: tuple[Trajectory, ...]
    """An even random draw in the order of the file, without pictures."""
    terminated: Flags
    """Of each episode [N]: 1, 0, or -1 where it is not known."""
    truncated: Flags
    success: Flags
    not_finite: dict[str, int]
    """`reward`, `observation`, `action` -> episodes with such a number that is not finite."""
    followed: int
    """Episodes with an observation after the last step and an episode behind them."""
    handed_over: int
    """Those of them whose last observation equals the first of the next episode."""
    unpaid: bool
    """Whether every reward is 0."""

    @property
    def n(self) -> int:
        """Episodes."""
        return self.summary.n

    @cached_property
    def states(self) -> Floats:
        """Observations of the drawn episodes [M, features] that are finite; of the first episode's width only."""
        parts = [one.observations for one in self.wide]
        states = np.concatenate(parts) if parts else np.zeros((0, 0))
        return states[np.isfinite(states).all(axis=1)]

    @cached_property
    def wide(self) -> tuple[Trajectory, ...]:
        """The drawn episodes whose observations have the width of the first one's and at least one feature."""
        width = next((one.observations.shape[1] for one in self.drawn if one.observations.shape[1]), 0)
        return tuple(one for one in self.drawn if width and one.observations.shape[1] == width)

    @cached_property
    def spread(self) -> Floats:
        """Standard deviation of each feature [features]."""
        none = np.zeros(self.states.shape[1])
        return cast(Floats, self.states.std(axis=0)) if len(self.states) else none

    @property
    def blind(self) -> bool:
        """Whether no feature of the observation ever changes, or none is stored."""
        return not (self.spread > 0).any()

    @cached_property
    def counted(self) -> bool:
        """Whether all observations are whole numbers: indexes of states, for which a distance means nothing."""
        return bool((self.states == np.round(self.states)).all())


@dataclass
class _Watch:
    random: np.random.Generator
    flags: dict[str, list[int]] = field(default_factory=lambda: {"terminated": [], "truncated": [], "success": []})
    not_finite: dict[str, int] = field(default_factory=lambda: {"reward": 0, "observation": 0, "action": 0})
    heap: list[tuple[float, int, Trajectory]] = field(default_factory=list[tuple[float, int, Trajectory]])
    numbers: int = 0
    last: Floats | None = None
    followed: int = 0
    handed_over: int = 0
    unpaid: bool = True

    def over(self, trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
        for place, one in enumerate(trajectories):
            if one.actions.dtype.kind not in "fiub":
                raise InputError(f"{one.source}: actions of type {one.actions.dtype}.", "Save actions as numbers.")
            self.look(one, place)
            yield one

    def look(self, one: Trajectory, place: int) -> None:
        for name, value in zip(self.flags, (one.terminated, one.truncated, one.success), strict=True):
            self.flags[name].append(-1 if value is None else int(value))
        actions = np.asarray(one.actions, np.float64)
        for name, part in (("reward", one.rewards), ("observation", one.observations), ("action", actions)):
            self.not_finite[name] += not np.isfinite(part).all()
        self.unpaid &= not one.rewards.any()
        if self.last is not None and one.observations.size:
            self.followed += 1
            self.handed_over += bool(np.array_equal(self.last, one.observations[0]))
        self.last = one.observations[-1] if one.observations.size and len(one.observations) == one.steps + 1 else None
        self.keep(replace(one, frames=None), place)

    def keep(self, one: Trajectory, place: int) -> None:
        heapq.heappush(self.heap, (float(self.random.random()), place, one))
        self.numbers += _numbers(one)
        while len(self.heap) > 1 and (len(self.heap) > MOST_EPISODES or self.numbers > MOST_NUMBERS):
            self.numbers -= _numbers(heapq.heappop(self.heap)[2])


def _numbers(one: Trajectory) -> int:
    return int(one.observations.size + one.actions.size + one.rewards.size)


def record_of(trajectories: Iterable[Trajectory], path: str, *, kept: int = KEPT, seed: int = 0) -> Record:
    """Read episodes once and return what the checks need of them.

    Args:
        trajectories: The episodes.
        path: Where they are from.
        kept: Episodes kept to be shown, of each kind.
        seed: Of what is drawn.

    Raises:
        InputError: actions that are no numbers.
    """
    watch = _Watch(np.random.default_rng(seed))
    summary = summarise(watch.over(trajectories), kept=kept, seed=seed)
    flags = {name: np.array(values, np.int8) for name, values in watch.flags.items()}
    return Record(
        path=path,
        summary=summary,
        drawn=tuple(one for _, _, one in sorted(watch.heap, key=lambda entry: entry[1])),
        **flags,
        not_finite=watch.not_finite,
        followed=watch.followed,
        handed_over=watch.handed_over,
        unpaid=watch.unpaid,
    )
