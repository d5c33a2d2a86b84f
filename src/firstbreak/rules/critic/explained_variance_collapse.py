"""The rule `explained-variance-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import compare, first_run, median
from firstbreak.view import RunView

from .explained_variance_negative import RETURNS, at_best, informative, rolling_median


@dataclass(frozen=True)
class Params:
    """Thresholds of `explained-variance-collapse`; engineering defaults where no source is named."""

    had: float = 0.5
    """Explained variance that the critic must have held before; a critic that never fitted is another rule's case.
    Engineering default."""
    lost: float = 0.5
    """How much of it must be gone: half of all there is to explain."""
    updates: int = 8
    """Updates over which both levels are medians, and for which the fall must last."""
    chance: float = 0.01
    """Most runs of so many low updates that chance would give, at the share of single low ones before. Of small batches
    explained variance scatters from 0 to 1 (A2C: 40 samples). Engineering default."""
    z: float = 5.0
    """Least size of the fall in standard errors inflated for autocorrelation. Engineering default."""


PPO = synth.like("PPO")
SCATTERED = synth.spikes(0.85, 0.1, at=tuple(place / 200 for place in range(20, 180) if place % 5 in (0, 2)))

CASES = (
    fires(
        "critic lost while the return falls",
        lambda: PPO(
            {
                "critic/explained_variance": synth.jump(0.85, 0.05, at=0.6),
                "critic/loss": synth.jump(30, 120, at=0.6),
                "reward/episode_return_mean": synth.jump(300, 120, at=0.65),
            }
        ),
    ),
    healthy("rises and stays", lambda: PPO({})),
    near_miss(
        "falls because the task is solved",
        lambda: PPO(
            {
                "critic/explained_variance": synth.jump(0.9, 0.0, at=0.6),
                "critic/loss": synth.jump(60, 0.05, at=0.6),
                "reward/episode_return_mean": synth.ramp(20, 500, 0.01, until=0.6),
            }
        ),
    ),
    near_miss(
        "scatters between 0 and 0.9 all along, and eight low ones come together",
        lambda: PPO(
            {
                "critic/explained_variance": synth.after(0.9, synth.flat(0.1), SCATTERED),
                "reward/episode_return_mean": synth.jump(300, 250, at=0.85),
            }
        ),
    ),
    near_miss("dips and recovers", lambda: PPO({"critic/explained_variance": synth.spikes(0.8, 0.0, at=(0.5, 0.6))})),
    near_miss("falls while the return sets its best", lambda: PPO({"critic/explained_variance": synth.ramp(0.9, 0.1)})),
)


@rule(
    "CRT002",
    "explained-variance-collapse",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=("critic/explained_variance",),
    when=("value_function",),
    min_points=30,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("return-oscillates", "return-collapse", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A critic that explained the returns has stopped explaining them, and the return is not at its best.

    What it means:
        Explained variance held a good level and then fell by half or more for many updates, although returns still
        vary.

    Why it matters:
        Advantages turn into noise; the policy follows a signal that no longer tells good actions from bad ones.

    Usual causes:
        A jump of the policy or of the reward scale; drifting observation or return normalisation; lost plasticity;
        too large a critic step.

    What to try:
        Fit the critic alone on a batch from before and one from after the fall; a fit on the old one only points at
        the data, on neither at the network.

    When it is harmless:
        On a solved task returns hardly vary and the number is undefined (such rows are left out); while the return
        sets new bests a critic may lag behind.

    References:
        Moalla et al. 2024, arXiv 2405.00662. Lyle et al. 2022, arXiv 2204.09560.
    """
    ev = view.get("critic/explained_variance")
    assert ev is not None
    if not any(view.has(name) for name in RETURNS):
        return Skip("whether the task is solved is not known without a return", RETURNS[:1])
    usable = informative(view, ev)
    step, value = ev.step[usable], ev.value[usable]
    if value.size < 3 * params.updates or not usable[-params.updates :].all() or at_best(view):
        return None
    levels = rolling_median(value, params.updates)
    best = int(np.argmax(levels))
    peak, recent = float(levels[best]), float(levels[-1])
    fallen = value < peak - params.lost
    if peak < params.had or recent > peak - params.lost or not fallen[-params.updates :].all():
        return None
    if compare(value[best : best + params.updates], value[-params.updates :]).z > -params.z:
        return None
    start = best + (first_run(fallen[best:], params.updates) or 0)
    before = fallen[:start]
    if before.size and value.size * float(np.mean(before)) ** params.updates > params.chance:
        return None
    return Detection(
        message=f"explained variance fell from {peak:.2f} to {median(value[-params.updates :]):.2f}",
        onset=view.onset(step[max(start - 1, 0)], step[start]),
        metric=ev.metric,
        evidence={"best_level": peak, "recent_level": recent},
    )
