"""The rule `scores-not-repeatable`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

NOISE = "reward/golden_noise_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `scores-not-repeatable`."""

    frac: float = 0.25
    """Share of the scores' variance that is chance. A retest reliability below 0.75 is called moderate or poor (Koo and
    Li 2016, doi:10.1016/j.jcm.2016.02.012)."""
    poor: float = 0.5
    """Share that makes it an error: a reliability below 0.5 is called poor (Koo and Li 2016)."""
    looks: int = 2
    """Looks in a row that must show it. Engineering default."""


GRPO = synth.like("GRPO")

CASES = (
    fires("scores by chance", lambda: GRPO({NOISE: synth.clipped(synth.flat(0.95, 0.05), 0, 1)})),
    fires("half of the scorer's calls fail since mid-run", lambda: GRPO({NOISE: synth.jump(0.0, 0.5, at=0.5)})),
    healthy("the same twice", lambda: GRPO({NOISE: synth.constant(0.0)})),
    near_miss("a judge that samples", lambda: GRPO({NOISE: synth.clipped(synth.flat(0.1, 0.03), 0, 1)})),
    near_miss("one time-out", lambda: GRPO({NOISE: synth.spikes(0.0, 0.4, at=(0.5,))})),
)


@rule(
    "RWD043",
    "scores-not-repeatable",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(NOISE,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "scorer-drift", "reward-redefined"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The same responses, scored twice at one time, get different scores.

    What it means:
        A good part of the variance of the reward is chance in the scorer, not a difference between responses.

    Why it matters:
        Advantages compare responses to one prompt by these scores. What is chance in them is pushed as hard as what is
        not; with enough of it nothing is learned while the reward is logged as ever.

    Usual causes:
        A scorer that times out or raises for some calls and counts them as 0; a judge at a high temperature; scores
        that depend on the order of the batch; a race between workers.

    What to try:
        Score twenty responses ten times; give errors and time-outs no score instead of 0; average several judgements.

    When it is harmless:
        Where the noise is known and groups are large enough to average it out.

    References:
        Koo and Li 2016, doi:10.1016/j.jcm.2016.02.012 (retest reliability).
    """
    points = view.get(NOISE)
    assert points is not None
    onset = persistent_onset(points.step, points.value >= params.frac, params.looks)
    if onset is None:
        return None
    share = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"{share:.0%} of the variance of the scores is chance: the same responses score differently at once",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"noise_frac": share},
        severity=Severity.ERROR if share >= params.poor else None,
    )
