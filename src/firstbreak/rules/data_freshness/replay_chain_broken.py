"""The rule `replay-chain-broken`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

BROKEN = "replay/chain_broken_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `replay-chain-broken`. Engineering defaults; 0 by definition."""

    broken: float = 0.25
    """Share of the newest transitions: environments that are reset from outside break one in hundreds."""
    lasts: int = 2
    """Rows in a row."""


SAC = synth.like("SAC")
CASES = (
    fires("observation and next observation are one array", lambda: SAC({BROKEN: synth.jump(0.0, 1.0, 0.6, 0.0)})),
    fires("from the start", lambda: SAC({BROKEN: synth.constant(0.9)})),
    healthy("each begins where the one before ended", lambda: SAC({BROKEN: synth.constant(0.0)})),
    near_miss("one reset from outside", lambda: SAC({BROKEN: synth.spikes(0.0, 0.3, (0.6,), 0.0)})),
)


@rule(
    "DAT019",
    "replay-chain-broken",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(BROKEN,),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("critic-not-learning", "reward-flat", "return-collapse", "q-divergence", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """What the replay buffer keeps is not what happened: stored transitions do not follow from one another.

    What it means:
        Within an episode, the next observation of a transition is the observation of the one stored after it. Of the
        newest ones in the buffer many are not.

    Why it matters:
        The critic learns values of states that were never left for those that they are paired with.

    Usual causes:
        Observation and next observation kept as one array, which the environment goes on writing into; a row that is
        added before or after its turn; copies of an environment that are stored in each other's place; observations
        that are normalised in one of the two places.

    What to try:
        Print three stored transitions in a row: each must begin with what the one before ended with. Store copies.

    When it is harmless:
        A buffer that is filled from elsewhere (demonstrations, shuffled data) while the run goes.

    References:
        None: a fact about the data.
    """
    points = view.get(BROKEN)
    assert points is not None
    onset = persistent_onset(points.step, points.value >= params.broken, params.lasts)
    if onset is None:
        return None
    worst = float(points.value[points.step >= onset[1]].max())
    return Detection(
        message=f"up to {worst:.0%} of the newest stored transitions do not begin where the one before ended",
        onset=view.onset(*onset),
        metric=BROKEN,
        evidence={"broken_frac": worst},
    )
