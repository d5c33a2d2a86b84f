"""Answers that stand word for word at many prompts: does one win everywhere, or is each right at prompts of its own?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..table import Fingerprints, Table
from .groups import dense
from .paid import column

PROMPTS = 6
"""Different prompts at which an answer must stand. Engineering default."""
LOST = 0.25
"""Share of the groups with another pay in which an answer that is paid everywhere may lose to its rivals; what is right
at some prompts only loses at the others. Engineering default."""
CLOSED = 0.5
"""Share of the samples from which answers of many prompts are a small set to choose from. Engineering default."""
SAME = 1e-6
"""Difference of pay, as a share of its range, that is rounding."""
BOTH = 0.2
"""Share of the groups with two answers of the set in which both may be paid; of a real choice one is right. Engineering
default: room for answers that mean the same."""


def common(table: Table) -> Fingerprints:
    """Return the answers that stand at `PROMPTS` or more different prompts, whatever the step [A]."""
    pairs = np.unique(np.stack((table.response, table.prompts), axis=1), axis=0)
    texts, prompts = np.unique(pairs[:, 0], return_counts=True)
    return texts[prompts >= PROMPTS]


def is_closed_set(table: Table) -> bool:
    """Whether most samples choose among a few answers of which hardly ever two are paid at one prompt."""
    texts = common(table)
    inside = np.isin(table.response, texts)
    if texts.size < 2 or inside.mean() < CLOSED:
        return False
    reward = column(table, "reward")
    middle = 0.5 * (np.nanmin(reward) + np.nanmax(reward))
    both = _answers_of(table, inside)
    paid = _answers_of(table, inside & (reward > middle))
    meet = both >= 2
    if not meet.any():  # each prompt has one answer of the set: which of them are right there cannot be compared
        return True
    return bool((paid[meet] >= 2).mean() < BOTH)


def _answers_of(table: Table, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many different answers each group has among `rows` [N] -> [G]."""
    index = dense(table.group)
    pairs = np.unique(np.stack((index[rows].astype(np.uint64), table.response[rows]), axis=1), axis=0)
    return np.bincount(pairs[:, 0].astype(np.int64), minlength=int(index.max()) + 1)


def everywhere(table: Table) -> Fingerprints:
    """Return the common answers that lose to their rivals in at most `LOST` of the groups with another pay [<= A]."""
    reward = column(table, "reward")
    rows = np.isfinite(reward)
    reward, index, answer = reward[rows], dense(table.group)[rows], table.response[rows]
    inside = np.isin(answer, common(table))
    if not inside.any():
        return np.zeros(0, np.uint64)
    total, size = np.bincount(index, weights=reward), np.bincount(index)
    keys = np.stack((answer[inside], index[inside].astype(np.uint64)), axis=1)
    pairs, where = np.unique(keys, axis=0, return_inverse=True)
    own, count = np.bincount(where.reshape(-1), weights=reward[inside]), np.bincount(where.reshape(-1))
    group = pairs[:, 1].astype(np.int64)
    rivals = size[group] - count
    gain = own / count - (total[group] - own) / np.maximum(rivals, 1)
    told = (rivals > 0) & (np.abs(gain) > SAME * max(float(np.ptp(reward)), 1e-12))
    texts, place = np.unique(pairs[:, 0], return_inverse=True)
    asked = np.bincount(place[told], minlength=texts.size)
    lost = np.bincount(place[told & (gain < 0)], minlength=texts.size)
    return texts[lost <= LOST * asked]
