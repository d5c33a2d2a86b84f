"""What the best episodes are paid while their state stands still."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...preflight.reward.measures import fraction_interval
from .moving import still_steps
from .record import Record
from .visiting import FEWEST_EACH

RESAMPLES = 400


@dataclass(frozen=True)
class Pay:
    """Of the episodes above the median return."""

    episodes: int
    share: float
    """Of the positive rewards, in steps that move nothing."""
    low: float
    """Lower end of its 95 % interval."""
    judged: int
    """Episodes whose success is known."""
    succeeded: int
    success_high: float
    """Upper end of the interval of the share that succeeds."""


def pay_of_the_best(record: Record, seed: int = 0) -> Pay | None:
    """Return what the episodes above the median return are paid for; None without ten of them or any pay."""
    returns = np.array([one.paid for one in record.wide])
    known = np.isfinite(returns)
    if not known.any():
        return None
    best = [one for one, r in zip(record.wide, returns, strict=True) if r > np.median(returns[known])]
    if len(best) < FEWEST_EACH:
        return None
    pay = np.array([np.maximum(one.rewards, 0.0).sum() for one in best])
    still = np.array([np.maximum(one.rewards, 0.0)[still_steps(one, record.spread)].sum() for one in best])
    if not pay.sum() > 0:
        return None
    rows = np.random.default_rng(seed).integers(len(best), size=(RESAMPLES, len(best)))
    low = float(np.nanquantile(still[rows].sum(axis=1) / pay[rows].sum(axis=1), 0.025))
    flags = [one.success for one in best if one.success is not None]
    return Pay(
        len(best),
        float(still.sum() / pay.sum()),
        low,
        len(flags),
        sum(flags),
        fraction_interval(sum(flags), len(flags))[1],
    )
