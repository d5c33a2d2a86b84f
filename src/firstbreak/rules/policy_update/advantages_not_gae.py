"""The rule `advantages-not-gae`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

RESIDUAL = "advantage/gae_residual"


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantages-not-gae`: engineering defaults; right is 0 by definition."""

    off: float = 0.01
    """Share of their own size by which advantages may differ. An identity: single precision makes it 1e-6, and
    values of 1000 with advantages of 1 make it 1e-4."""
    lasts: int = 2
    """Rows in a row."""


PPO = synth.like("PPO")
EXACT = synth.clipped(synth.flat(1e-6, 0.5), 0, 1)
CASES = (
    fires("backwards in time, half-way", lambda: PPO({RESIDUAL: synth.after(0.5, synth.flat(1.2, 0.1), EXACT)})),
    fires("wrong from the start", lambda: PPO({RESIDUAL: synth.flat(0.4, 0.1)})),
    healthy("rounding", lambda: PPO({RESIDUAL: EXACT})),
    near_miss("values a thousand times as large as advantages", lambda: PPO({RESIDUAL: synth.flat(1e-4, 0.5)})),
    near_miss("one rollout that somebody looked into", lambda: PPO({RESIDUAL: synth.spikes(1e-6, 0.2, (0.6,))})),
)


@rule(
    "POL048",
    "advantages-not-gae",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    needs=(RESIDUAL,),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "return-collapse",
        "reward-flat",
        "explained-variance-negative",
        "explained-variance-collapse",
        "critic-not-learning",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The advantages are not those that the rewards and values beside them make.

    What it means:
        Generalised advantage estimation, recomputed step by step from the stored rewards, values and ends of episodes
        with the discount and lambda in force, gives other numbers than are stored.

    Why it matters:
        Every action is credited with what another one earned: the policy learns noise, or the opposite.

    Usual causes:
        A sum that runs forward in time; columns that are flipped, shifted by a step or shuffled apart from each other;
        rewards or values that are changed after the sum; another discount in one of the two places.

    What to try:
        On one rollout print reward, value, end of episode and advantage side by side, and sum by hand from the end.

    When it is harmless:
        An estimator of your own that writes into the library's buffer: ignore the rule there.

    References:
        Schulman et al. 2016, arXiv 1506.02438, equations 11 and 16.
    """
    points = view.get(RESIDUAL)
    assert points is not None
    onset = persistent_onset(points.step, points.value > params.off, params.lasts)
    if onset is None:
        return None
    since = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"advantages differ by {since:.0%} of their size from what rewards and values beside them make",
        onset=view.onset(*onset),
        metric=RESIDUAL,
        evidence={"residual": since},
    )
