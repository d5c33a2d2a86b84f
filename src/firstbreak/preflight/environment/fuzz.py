"""Extreme actions: corners of the action space held, alternated and drawn at random, until something breaks.

What broke is reduced to a shorter list of actions that breaks it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .remembered import remembered
from .world import Array, Episode, World

STEPS = 100
"""Length of each extreme run."""
BUDGET_S = 2.0
"""What all runs together may take; the runs that break things most often come first."""
CORNERS = 6
HUGE = 1e8
"""A reward or observation beyond this is called an explosion: in float32 the next number is 8 away."""
UNBOUNDED_REACH = (10.0, 1e3, 1e6)
"""How far unbounded action dimensions are pushed."""


@dataclass(frozen=True)
class Breakage:
    """One way in which extreme actions broke the environment."""

    kind: str
    """`raised`, `observation-not-finite`, `reward-not-finite`, `reward-huge` or `observation-huge`."""
    what: str
    """The exception, or the value seen."""
    seed: int
    actions: tuple[Any, ...]
    """The shortest list found that breaks it again."""
    reach: float
    """Largest absolute action value on the way; beyond the bounds only where there are none."""
    size: float = 0.0


@dataclass(frozen=True)
class Fuzz:
    """Everything that extreme actions brought up."""

    breakages: tuple[Breakage, ...]
    runs: int

    def first(self, *kinds: str) -> Breakage | None:
        """Return the first breakage of one of these kinds."""
        return next((b for b in self.breakages if b.kind in kinds), None)


def fuzz_of(world: World) -> Fuzz:
    """Return what extreme actions bring up in `world`, tried once."""
    return remembered(world, "fuzz", lambda: _fuzz(world))


def programs(space: Any, steps: int = STEPS) -> list[tuple[Any, ...]]:
    """Return lists of extreme actions for `space`, the likeliest to break things first; empty for unknown spaces."""
    draw = np.random.default_rng(3)  # fixed: a failure must be found again
    if hasattr(space, "low") and hasattr(space, "high"):
        low, high = np.asarray(space.low, float), np.asarray(space.high, float)
        bounded = bool(np.isfinite(low).all() and np.isfinite(high).all())
        lists: list[tuple[Any, ...]] = []
        for reach in (0.0,) if bounded else UNBOUNDED_REACH:
            lists += (
                _box_programs(space, np.maximum(low, -reach), np.minimum(high, reach), steps, draw)
                if reach
                else (_box_programs(space, low, high, steps, draw))
            )
        return lists
    if hasattr(space, "n") and not getattr(space, "shape", ()):
        kind, start = space.dtype.type, int(getattr(space, "start", 0))
        held = [tuple([kind(start + a)] * steps) for a in range(min(int(space.n), 12))]
        swing = tuple(kind(start + (i % 2) * (int(space.n) - 1)) for i in range(steps))
        return [*held, swing]
    return []


def _box_programs(space: Any, low: Array, high: Array, steps: int, draw: np.random.Generator) -> list[tuple[Any, ...]]:
    def action(values: Any) -> Any:
        return np.asarray(values, dtype=space.dtype)

    def corner() -> Any:
        return action(np.where(np.asarray(draw.random(low.shape)) < 0.5, low, high))

    ends = (action(high), action(low))
    lists: list[tuple[Any, ...]] = [(ends[0],) * steps, (ends[1],) * steps]
    lists.append(tuple(ends[i % 2] for i in range(steps)))
    lists.append(tuple(corner() for _ in range(steps)))
    lists += [(corner(),) * steps for _ in range(CORNERS if low.size > 1 else 0)]
    return lists


def _fuzz(world: World) -> Fuzz:
    seeds = [e.seed for e in world.episodes if e.seed is not None][:2] or [0]
    found: dict[str, Breakage] = {}
    begin, runs = time.perf_counter(), 0
    usual = _usual_size(world)
    for seed in seeds:
        for actions in programs(world.action_space):
            if runs >= 3 and time.perf_counter() - begin > BUDGET_S:
                break
            runs += 1
            broken = judge(world, actions, seed, usual)
            if broken is not None and broken.kind not in found:
                found[broken.kind] = _shortened(world, broken, usual)
    return Fuzz(tuple(found.values()), runs)


def _usual_size(world: World) -> float:
    """The largest finite reward or observation that random play has shown; breaking means going far beyond."""
    rows = np.abs(world.observations)
    rewards = np.abs(world.rewards)
    sizes = [float(a[np.isfinite(a)].max(initial=0.0)) for a in (rows, rewards)]
    return max(sizes)


def judge(world: World, actions: Sequence[Any], seed: int, usual: float = 0.0) -> Breakage | None:
    """Play `actions` from `seed` and return how that broke, None when it did not."""
    reach = float(max((np.max(np.abs(np.asarray(a, float))) for a in actions), default=0.0))
    try:
        episode = world.play(list(actions), seed)
    except Exception as error:
        return Breakage("raised", f"{type(error).__name__}: {error}"[:200], seed, tuple(actions), reach)
    return _broken(episode, tuple(actions), seed, reach, usual)


def _broken(episode: Episode, actions: tuple[Any, ...], seed: int, reach: float, usual: float) -> Breakage | None:
    most = max(HUGE, 1e3 * usual)
    tests: tuple[tuple[str, Any], ...] = (
        ("observation-not-finite", ~np.isfinite(episode.observations[1:]).all(axis=1)),
        ("reward-not-finite", ~np.isfinite(episode.rewards)),
        ("observation-huge", np.abs(episode.observations[1:]).max(axis=1, initial=0.0) > most),
        ("reward-huge", np.abs(episode.rewards) > most),
    )
    for kind, bad in tests:
        if bad.any():
            step = int(np.argmax(bad))
            values = episode.rewards[step : step + 1] if "reward" in kind else episode.observations[step + 1]
            size = float(np.max(np.abs(values)))
            return Breakage(kind, f"{size:.3g}", seed, actions[: step + 1], reach, size)
    return None


def _shortened(world: World, broken: Breakage, usual: float) -> Breakage:
    def still(actions: Sequence[Any]) -> bool:
        again = judge(world, actions, broken.seed, usual)
        return again is not None and again.kind == broken.kind

    actions = shorter(broken.actions, still)
    return judge(world, actions, broken.seed, usual) or broken


def shorter(actions: Sequence[Any], still: Callable[[Sequence[Any]], bool]) -> tuple[Any, ...]:
    """Return the shortest prefix, then the shortest tail of it, that `still` breaks; at most about 30 trials."""
    best = tuple(actions)
    low, high = 0, len(best)
    while high - low > 1:  # assumes that longer prefixes break too; the answer is tested below in any case
        middle = (low + high) // 2
        low, high = (low, middle) if still(best[:middle]) else (middle, high)
    if high < len(best) and still(best[:high]):
        best = best[:high]
    tail = 1
    while tail < len(best):
        if still(best[-tail:]):
            return best[-tail:]
        tail *= 2
    return best
