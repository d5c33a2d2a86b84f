"""Components of a reward: with which weights they add up to it, in which rows they do not, and what each pays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...finding import Skip
from .gate import too_few
from .sample import RewardSample

Array = NDArray[np.float64]
TOLERANCE = 1e-4
"""Gap as a share of the reward's spread that rounding to float32 and the printing of tables explain."""
ROUNDS = 20
EVENT = re.compile(
    r"success|goal|bonus|finish|terminal|termination|win|solved|penalty|cost|collision|crash|fall|fail|violation|limit"
)
"""Names of components that are 0 until something happens."""


@dataclass(frozen=True)
class Sum:
    """How the components make the reward: reward = constant + sum of weight * component, except in some rows."""

    weights: dict[str, float]
    constant: float
    gap: Array
    """Reward minus that sum [N]."""
    off: NDArray[np.bool_]
    """Rows [N] where the gap is more than rounding."""

    unpaid: tuple[str, ...] = ()
    """Components that vary, yet weigh nothing in the rows that agree."""

    @property
    def adds_up(self) -> bool:
        """Whether at least half of the rows agree; otherwise the weights mean nothing."""
        return bool(self.off.mean() <= 0.5)


def usable_parts(sample: RewardSample, least: int = 1) -> dict[str, Array] | Skip:
    """Return the components whose values are all finite, or why there are none to look at."""
    if not sample.components:
        return Skip("the parts of the reward are not known", ("reward components",))
    skip = too_few(sample)
    if skip is not None:
        return skip
    parts = {k: v for k, v in sample.components.items() if np.isfinite(v).all()}
    return parts if len(parts) >= least else Skip(f"under {least} components with finite values")


@lru_cache(maxsize=8)
def added_up(sample: RewardSample) -> Sum | None:
    """Find how the components add up: as they are, or with weights that fit the rows which agree (trimmed fit).

    Returns None without finite rewards and components.
    """
    parts = usable_parts(sample)
    if isinstance(parts, Skip):
        return None
    table = np.stack(list(parts.values()), axis=1)
    scale = max(float(sample.rewards.std()), 1e-9 * float(np.abs(sample.rewards).max()), 1e-300)
    plain = sample.rewards - table.sum(axis=1)
    weights, constant = np.ones(table.shape[1]), 0.0
    gap = plain
    if (np.abs(plain) > TOLERANCE * scale).mean() > 0.5:
        weights, constant = _trimmed(table, sample.rewards, TOLERANCE * scale)
        gap = sample.rewards - table @ weights - constant
    off = np.abs(gap) > TOLERANCE * scale
    moved = table[~off].std(axis=0) if not off.all() else np.zeros(table.shape[1])
    idle = (moved > 0) & (np.abs(weights) * moved <= TOLERANCE * scale)
    unpaid = tuple(name for name, nothing in zip(parts, idle.tolist(), strict=True) if nothing)
    return Sum(dict(zip(parts, weights.tolist(), strict=True)), constant, gap, off, unpaid)


def _trimmed(table: Array, rewards: Array, room: float) -> tuple[Array, float]:
    """Least squares with a constant, refitted to the 60 % of rows that it fits best (Rousseeuw 1984).

    A fit within `room` in all rows stands: the best 60 % of them need not hold a part that is rarely paid.
    """
    rows = np.hstack([table, np.ones((len(table), 1))])
    keep = np.ones(len(rows), dtype=bool)
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        weights = np.asarray(np.linalg.lstsq(rows[keep], rewards[keep], rcond=None)[0], dtype=np.float64)
        gap = np.abs(rewards - rows @ weights)
        best = gap <= np.quantile(gap, 0.6)
        if (gap <= room).all() or (best == keep).all():
            break
        keep = best
    return weights[:-1], float(weights[-1])


def weighed(sample: RewardSample) -> list[str]:
    """What a report says where the components make the reward only with weights: one line, or none."""
    made = added_up(sample)
    if made is None or made.off.any() or made.unpaid or all(w == 1.0 for w in made.weights.values()):
        return []
    told = ", ".join(f"{w:.3g} x {name[:30]}" for name, w in list(made.weights.items())[:4])
    more = f" + {made.constant:.3g}" if abs(made.constant) > 1e-9 else ""
    return [f"the components are not what is paid; the reward is {told}{more}"]
