"""How TRL weighed its reward functions: its dump holds their values and the advantages, but not the weights.

Within a group an advantage is the weighted sum of the rewards less its mean, divided by a spread or by nothing
(Shao et al. 2024, arXiv 2402.03300, section 4.1.2; Liu et al. 2025, arXiv 2503.20783, for the form without division).
So the right weights are those whose centred sum is proportional to the advantages in every group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sample import NAN
from .values import known, number

Floats = NDArray[np.float64]
CLOSE = 2e-3
"""Largest relative difference of an advantage from what the weights say. Engineering default: TRL logs float32 and
adds 1e-4 to the spread."""
ROUNDS = 60


def blocks_of(keys: Sequence[int]) -> list[slice]:
    """Return the groups of a step: runs of equal prompts, cut where the same prompt was drawn twice in a row."""
    runs = [len(list(run)) for _, run in groupby(keys)]
    size = math.gcd(*runs) if runs else 0
    return [slice(i, i + size) for i in range(0, len(keys), size)] if size > 1 else []


def weights(rewards: Floats, advantages: Floats, keys: Sequence[int], names: Sequence[str]) -> dict[str, float] | None:
    """Return reward function -> weight up to a common factor, None where the advantages do not tell.

    Args:
        rewards: Values of the reward functions [N, functions]; NaN where one does not apply.
        advantages: [N].
        keys: What tells the prompts apart [N].
        names: Of the functions.
    """
    if not names:
        return None
    only = {names[0]: 1.0} if len(names) == 1 else None
    blocks = blocks_of(keys)
    if not blocks or not np.isfinite(advantages).all() or not np.abs(advantages).max(initial=0) > 0:
        return only
    filled = np.nan_to_num(rewards, nan=0.0, posinf=0.0, neginf=0.0)
    centred = np.concatenate([filled[block] - filled[block].mean(axis=0) for block in blocks])
    fits = [fitted(centred, advantages, blocks, rounds) for rounds in (0, ROUNDS)]
    plain = [fit.round(2) for fit in fits]
    for candidate in (*np.eye(len(names)), np.ones(len(names)), *plain, *fits):
        if explains(candidate, centred, advantages, blocks):
            return {name: round(float(weight), 3) for name, weight in zip(names, candidate, strict=True)}
    return only


def explains(candidate: Floats, centred: Floats, advantages: Floats, blocks: Sequence[slice]) -> bool:
    """Whether the weighted rewards are proportional to the advantages in every group."""
    paid = centred @ candidate
    scale = np.abs(paid).max(initial=0.0)
    for block in blocks:
        here, said = paid[block], advantages[block]
        largest = np.abs(said).max()
        square = float(here @ here)
        if square <= (1e-6 * scale) ** 2 * here.size:
            if largest > 1e-2:
                return False
            continue
        factor = float(here @ said) / square
        if factor < 0 or np.abs(said - factor * here).max() > CLOSE * max(largest, 1e-2):
            return False
        if factor * np.abs(here).max() < 1e-6 and np.abs(here).max() > 1e-3 * scale:
            return False
    return scale > 0


def fitted(centred: Floats, advantages: Floats, blocks: Sequence[slice], rounds: int) -> Floats:
    """Return the weights that fit best, largest 1.

    With no `rounds` all groups are divided by the same; with some, the spread of each is found in turns with the
    weights.
    """
    found = np.asarray(np.linalg.lstsq(centred, advantages, rcond=None)[0], np.float64)
    for _ in range(rounds):
        largest = np.abs(found).max()
        if largest <= 0:
            return found
        found = found / largest
        paid = centred @ found
        spread = np.concatenate([np.full(b.stop - b.start, paid[b].std(ddof=1)) for b in blocks])
        found = np.asarray(np.linalg.lstsq(centred, advantages * spread, rcond=None)[0], np.float64)
    largest = np.abs(found).max()
    found = found / largest if largest > 0 else found
    return np.where(np.abs(found) < 1e-3, 0.0, found)


def paid(row: Mapping[str, Any], weighed: Mapping[str, float]) -> float:
    """Return what training paid for a row, NaN where no reward function applied."""
    parts = [(number(row.get(name)), weight) for name, weight in weighed.items()]
    given = [value * weight for value, weight in parts if known(value)]
    return number(sum(given)) if given else NAN
