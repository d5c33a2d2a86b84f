"""The check `returns-flat-from-start`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gap import LEAST as SEVERAL
from ..gap import difference, several
from ..sample import TaskSample

LEAST = 50
FLAT = 0.99


@check(
    "PTK006",
    "returns-flat-from-start",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Start with easy goals, or add potential-based shaping; then demonstrations.",
)
def look(sample: TaskSample) -> Answer:
    """All episodes of random play have the same return: the reward is flat from the start.

    What is measured:
        The share of random episodes with the commonest return, when it is also the lowest; it fires at 99 % of 50
        episodes or more. When an expert or the trained policy does clearly better, it is a note.

    Why it hurts:
        A learner that starts at random sees no difference between what it does, so it cannot begin to improve.

    Usual causes:
        A goal that is far away and paid only when reached; a scorer that does not fire; MountainCar, of which this is
        the textbook case: it does need an optimistic start, shaping or many steps.

    What to try:
        In this order: easy goals first and then harder ones (a curriculum), potential-based shaping, demonstrations.

    When it is harmless:
        When the learner does not start at random, or has an exploration bonus.

    References:
        Ng, Harada & Russell 1999; Bengio et al. 2009; Sutton & Barto 2018, section 10.1 (MountainCar).
    """
    random = sample.returns.get("random")
    if random is None or random.size < LEAST or not np.isfinite(random).all():
        few = random is not None and random.size < SEVERAL  # then nothing at all has been compared
        return Skip(f"fewer than {LEAST} finite returns of random play", ("more random episodes",), withholds=few)
    values, counts = np.unique(random, return_counts=True)
    share = float(counts[0] / random.size)
    if share < FLAT:
        return None
    others = [w for w in ("expert", "trained") if several(sample.returns.get(w))]
    better = any(difference(sample.returns[w], random).low > 0 for w in others)
    return Symptom(
        f"flat from the start: {100 * share:.0f} % of {random.size} random episodes return {values[0]:.4g}; "
        "curriculum or shaping needed",
        "return.random",
        {"share_frac": share, "value": float(values[0]), "episodes": int(random.size), "others_do_better": better},
        severity=Severity.INFO if better else None,
    )
