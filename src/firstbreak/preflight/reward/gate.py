"""What every reward check asks first: are there enough rewards, and are they numbers?"""

from __future__ import annotations

import numpy as np

from ...finding import Skip
from .sample import RewardSample

LEAST_REWARDS = 20
"""Rewards under which a sample is called neither healthy nor broken. Engineering default: one in 20 is 5 %."""


def too_few(sample: RewardSample, units: int = 20) -> Skip | None:
    """Return why `sample` cannot be judged: not finite (reported by its own check), or under `units` returns."""
    if not np.isfinite(sample.rewards).all():
        return Skip("some rewards are not finite; that comes first")
    if sample.returns.size < units:
        few = sample.rewards.size < LEAST_REWARDS  # then nothing has been looked at, and silence is no health
        return Skip(f"only {sample.returns.size} {sample.unit}, {units} are needed", ("more rewards",), withholds=few)
    return None
