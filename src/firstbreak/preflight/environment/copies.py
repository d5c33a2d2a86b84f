"""All copies of a vector environment, recorded side by side under random actions and under equal ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .adapters.vector import declared_mode, final_of, row_of
from .recording import close_quietly
from .remembered import remembered
from .shapes import is_array
from .spaces import Flattener
from .world import Array, World

STEPS = 600
"""Steps of the record: several episodes of every copy where episodes are short."""
EQUAL_STEPS = 30
LEAST_ENDS = 5


@dataclass
class Copies:
    """T steps of N copies."""

    mode: str
    """What the metadata declare: next_step, same_step, disabled or nothing."""
    starts: Array
    """[N, D], what reset returned."""
    observations: Array
    """[T, N, D], what step returned."""
    rewards: Array
    """[T, N]"""
    ended: NDArray[np.bool_]
    """[T, N]"""
    finals: dict[tuple[int, int], Array] = field(default_factory=dict[tuple[int, int], Array])
    """(step, copy) -> the final observation that info gave there."""

    @property
    def ends(self) -> list[tuple[int, int]]:
        """(step, copy) of every end that is followed by another step."""
        return [(int(t), int(i)) for t, i in zip(*np.nonzero(self.ended[:-1]), strict=True)]


def copies_of(world: World) -> Copies:
    """Return all copies under random actions, played once."""
    return remembered(world, "copies", lambda: _play(world, STEPS, equal=False))


def equal_copies_of(world: World) -> Copies:
    """Return all copies under the same action in each step, played once."""
    return remembered(world, "equal copies", lambda: _play(world, EQUAL_STEPS, equal=True))


def _play(world: World, steps: int, *, equal: bool) -> Copies:
    assert world.make_raw is not None
    env = world.make_raw()
    try:
        return _record(env, world.seed, steps, equal=equal)
    finally:
        close_quietly(env)


def _record(env: Any, seed: int, steps: int, *, equal: bool) -> Copies:
    flatten = Flattener(env.single_observation_space, "observation", 2048, one_hot=True)

    def rows(seen: Any) -> Array:
        return np.array([flatten(row_of(seen, i)) for i in range(env.num_envs)])

    env.action_space.seed(seed)
    first, _ = env.reset(seed=seed)
    mode = declared_mode(env)
    kept = Copies(mode, rows(first), np.zeros(0), np.zeros(0), np.zeros(0, bool))
    seen, paid, ended = list[Array](), list[Array](), list[NDArray[np.bool_]]()
    for t in range(steps):
        actions = env.action_space.sample()
        if equal and is_array(actions):
            actions[:] = actions[0]
        told, reward, terminated, truncated, info = env.step(actions)
        done = np.logical_or(terminated, truncated)
        seen.append(rows(told))
        paid.append(np.array(reward, float))
        ended.append(np.array(done, bool))
        for i in np.flatnonzero(done):
            final = final_of(info, int(i))
            if final is not None:
                kept.finals[t, int(i)] = flatten(final)
        if mode == "disabled" and done.any():
            env.reset(options={"reset_mask": np.array(done, bool)})
    kept.observations, kept.rewards, kept.ended = np.array(seen), np.array(paid), np.array(ended)
    return kept


def like_starts(world: World, rows: Array) -> NDArray[np.bool_]:
    """Return for each of `rows` [n, D] whether it lies among the starts seen, with a margin of a tenth of their range.

    Both the recorded starts and those of further seeds count.
    """
    starts = np.array([e.observations[0] for e in world.episodes])
    low, high = starts.min(axis=0), starts.max(axis=0)
    margin = 0.1 * (high - low)
    return np.asarray(((rows >= low - margin) & (rows <= high + margin)).all(axis=1), bool)


def seen_mode(world: World, copies: Copies) -> str:
    """Return how copies reset, as the observations show it: same_step, next_step, never, or nothing when unclear.

    After a reset the observation is back among the starts: in the same step the one that came with the end is, in the
    next step the one after it.
    """
    ends = copies.ends
    if len(ends) < LEAST_ENDS:
        return ""
    before = [copies.observations[t - 1, i] for t, i in ends if t > 0]
    if before and float(like_starts(world, np.array(before)).mean()) > 0.5:
        return ""  # states in the middle of an episode are like starts as well: these tell nothing
    at_end = float(like_starts(world, np.array([copies.observations[t, i] for t, i in ends])).mean())
    after = float(like_starts(world, np.array([copies.observations[t + 1, i] for t, i in ends])).mean())
    again = float(np.mean([copies.ended[t + 1, i] for t, i in ends]))
    if again > 0.9 and after < 0.5:
        return "never"
    if at_end > 0.8:
        return "same_step"
    return "next_step" if after > 0.8 and at_end < 0.2 else ""
