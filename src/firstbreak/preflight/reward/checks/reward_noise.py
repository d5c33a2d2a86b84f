"""The check `reward-noise`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..sample import RewardSample

MOSTLY = 0.5
"""Share of the variance that is noise, from which it is a warning."""
SOME = 0.01
"""Share from which it is worth knowing."""


@check(
    "PRW035",
    "reward-noise",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Remove the noise from the reward, or draw it from the environment's own generator.",
)
def look(sample: RewardSample) -> Answer:
    """The same steps from the same seed are paid differently: the reward holds noise of its own.

    What is measured:
        Plays with the same seed and actions in two fresh environments whose observations agree: half the variance of
        the differences of their rewards, as a share of the variance of the reward.

    Why it hurts:
        Noise hides which action was better: the steps needed grow with the noise's share of the variance.

    Usual causes:
        A judge that samples; noise from a generator that reset does not seed; a timing in the reward.

    What to try:
        Pay the mean of several scores; seed the generator in reset.

    When it is harmless:
        Noise that is part of the task, in small measure: below half of the variance it is a note.

    References:
        Two measurements of the same thing: error variance is half the variance of the difference (Bland & Altman 1986).
    """
    fresh = [r for r in sample.replays if r.kind == "fresh_again" and r.same_observations]
    if not fresh:
        return Skip("no plays that agree in their observations", ("an environment instead of a table",))
    skip = too_few(sample, 1)
    if skip is not None:
        return skip
    gaps = [r.first[: r.second.size] - r.second[: r.first.size] for r in fresh]
    gap = np.concatenate(gaps)
    spread = float(np.var(sample.rewards))
    noise = 0.5 * float(np.mean(gap**2))
    if spread <= 0 or noise <= SOME * spread:
        return None
    share = min(noise / spread, 1.0)
    return Symptom(
        f"{100 * share:.0f} % of the reward's variance is noise: the same {gap.size} steps are paid differently",
        "reward",
        {"noise_frac": share, "noise_std": noise**0.5, "reward_std": spread**0.5, "steps": int(gap.size)},
        severity=None if share >= MOSTLY else Severity.INFO,
    )
