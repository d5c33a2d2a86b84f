"""The check `reward-remembers-past`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..gate import too_few
from ..sample import RewardSample


@check(
    "PRW034",
    "reward-remembers-past",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Reset the state that the reward keeps (previous potential, previous distance, running mean) in reset().",
)
def look(sample: RewardSample) -> Answer:
    """The reward depends on earlier episodes: something it keeps is not reset.

    What is measured:
        The same seed and actions in a fresh environment and in one that has played before: the observations agree, the
        rewards do not, while two fresh environments agree in both.

    Why it hurts:
        The first step of an episode is paid for the end of the last one, and the critic cannot know it.

    Usual causes:
        A shaping term that keeps the previous potential over reset; a bonus paid once per lifetime, not per episode; a
        counter that is not cleared.

    What to try:
        Print what the reward object holds after reset.

    When it is harmless:
        Wrappers that divide by a running spread change the reward over time on purpose.

    References:
        Ng, Harada & Russell 1999 (the potential of the first state belongs to its own episode).
    """
    after = [r for r in sample.replays if r.kind == "after_episode" and r.same_observations]
    fresh = [r for r in sample.replays if r.kind == "fresh_again" and r.same_observations]
    if not after or not fresh:
        return Skip("no plays that agree in their observations", ("an environment instead of a table",))
    skip = too_few(sample, 1)
    if skip is not None:
        return skip
    if any(_first_gap(r.first, r.second) is not None for r in fresh):
        return Skip("the reward differs between fresh environments as well")
    gaps = [(at, r) for r in after if (at := _first_gap(r.first, r.second)) is not None]
    if not gaps:
        return None
    at, worst = gaps[0]
    size = float(worst.second[at] - worst.first[at])
    return Symptom(
        f"the reward of step {at + 1} depends on the previous episode: {size:+.3g} against a fresh environment",
        "reward",
        {"plays": len(after), "plays_that_differ": len(gaps), "first_step": at + 1, "difference": size},
        at=Onset(at, at, "env_steps", 1.0),
    )


def _first_gap(first: np.ndarray, second: np.ndarray) -> int | None:
    n = min(first.size, second.size)
    differ = ~np.isclose(first[:n], second[:n], rtol=1e-6, atol=1e-9, equal_nan=True)
    return int(np.argmax(differ)) if differ.any() else None
