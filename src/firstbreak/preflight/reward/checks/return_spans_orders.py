"""The check `return-spans-orders`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..measures import decades
from ..sample import RewardSample

LEAST = 50
MANY = 5
"""Powers of ten that each hold 5 % of the returns: Gaussian and exponential ones fill 3, lognormal ones (sigma 2) 4."""


@check(
    "PRW007",
    "return-spans-orders",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Find what multiplies the reward; give all tasks one scale, or compress the reward.",
)
def look(sample: RewardSample) -> Answer:
    """The returns spread over many orders of magnitude.

    What is measured:
        How many powers of ten hold at least 5 % of the discounted returns that are not 0.

    Why it hurts:
        One network has to fit values of 0.01 and of 10,000 at once: with a squared loss only the large ones count.

    Usual causes:
        Levels or tasks with scales of their own; a weight that is drawn anew; raw money, counts or probabilities.

    What to try:
        Scale each task by its own spread; or learn on a compressed scale (symlog, two-hot values).

    When it is harmless:
        When the trainer does that already.

    References:
        van Hasselt et al. 2016, arXiv 1602.07714 (Pop-Art); Hafner et al. 2023, arXiv 2301.04104 (symlog).
    """
    skip = too_few(sample, LEAST)
    if skip is not None:
        return skip
    values = sample.discounted
    found = decades(values)
    if found < MANY:
        return None
    low, high = np.quantile(np.abs(values[values != 0]), [0.05, 0.95])
    return Symptom(
        f"returns of {values.size} {sample.unit} span {found} orders of magnitude, {low:.2g} to {high:.2g} (5 to 95 %)",
        "reward",
        {"decades": found, "low": float(low), "high": float(high), "count": int(values.size)},
    )
