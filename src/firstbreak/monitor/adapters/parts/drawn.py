"""Whether what a replay buffer gives out is what it holds: some rows that are drawn, beside the stored ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .replay_chain import MOST_ENTRIES

METRIC = "replay/drawn_unlike_frac"
ROWS = 64
"""Rows of a draw that are looked at. Engineering choice: what other looks at a replay buffer cover."""
MOST_COPIES = 8
"""Copies of the environment whose rows are compared. Engineering choice: with more, rows of one are like another's."""


Columns = Mapping[str, NDArray[Any]]


def unlike(drawn: Columns, stored: Columns) -> NDArray[np.bool_] | None:
    """Return in which rows [N] some column [N, ...] is not the stored one, number by number; None where none compares.

    Columns of another form are not compared: what is drawn may be flattened or cut on purpose.
    """
    apart: NDArray[np.bool_] | None = None
    for name, column in drawn.items():
        one, two = column.reshape(len(column), -1), stored[name].reshape(len(stored[name]), -1)
        if one.shape != two.shape or one.shape[1] > MOST_ENTRIES:
            continue
        close = cast(NDArray[np.bool_], np.isclose(one, two, rtol=1e-5, atol=1e-8, equal_nan=True))
        other = ~cast(NDArray[np.bool_], close.all(1))
        apart = other if apart is None else apart | other
    return apart


def of_sb3(buffer: Any) -> dict[str, float]:
    """Draw rows of a replay buffer of Stable-Baselines3 by their places, and compare; draws random numbers.

    Nothing of buffers of other kinds: they may relabel or add up what they give out.
    """
    from stable_baselines3.common.buffers import ReplayBuffer

    held, copies = int(buffer.buffer_size if buffer.full else buffer.pos), int(buffer.n_envs)
    if type(buffer) is not ReplayBuffer or buffer.optimize_memory_usage or not held or copies > MOST_COPIES:
        return {}
    places = np.random.randint(0, held, size=min(ROWS, held))  # the generator that `untouched` puts back
    rows = buffer._get_samples(places, env=None)
    drawn = {
        "obs": rows.observations.cpu().numpy(),
        "next_obs": rows.next_observations.cpu().numpy(),
        "action": rows.actions.cpu().numpy(),
        "reward": rows.rewards.cpu().numpy(),
        "ended": rows.dones.cpu().numpy(),
    }
    # Of which copy a row is, the buffer draws itself: it must be that of one of them.
    found = [unlike(drawn, _of_copy(buffer, places, copy)) for copy in range(copies)]
    known = [apart for apart in found if apart is not None]
    return {METRIC: float(np.all(known, axis=0).mean())} if known else {}


def _of_copy(buffer: Any, places: NDArray[np.intp], copy: int) -> Columns:
    return {
        "obs": buffer.observations[places, copy],
        "next_obs": buffer.next_observations[places, copy],
        "action": buffer.actions[places, copy],
        "reward": buffer.rewards[places, copy],
        "ended": buffer.dones[places, copy] * (1 - buffer.timeouts[places, copy]),
    }


def of_reference(buffer: Any, sample: Any) -> dict[str, float]:
    """Compare a sample of a reference trainer with the rows of its buffer that it says it is."""
    places: Any = sample.get("index", None) if hasattr(sample, "get") else None
    if places is None or not len(places):
        return {}
    few = slice(0, ROWS)
    rows = buffer[places[few].reshape(-1).cpu()]
    names = ("obs", "next_obs", "action", "reward", "terminated", "truncated")
    drawn = {name: sample[name][few].cpu().numpy() for name in names}
    apart = unlike(drawn, {name: rows[name].cpu().numpy() for name in names})
    return {} if apart is None else {METRIC: float(apart.mean())}
