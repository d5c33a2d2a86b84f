"""The rule `update-against-advantage`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, quantile
from firstbreak.stats.change import largest_of
from firstbreak.view import RunView

FOLLOW = "policy/advantage_follow"


@dataclass(frozen=True)
class Params:
    """Thresholds of `update-against-advantage`.

    To first order an update raises the sum of advantage times change of log-probability over the very rows it is made
    on, so that their cosine is above 0 by definition of a policy gradient. In unbroken runs (A2C, PPO, MM-RKHS on
    six tasks, 1,000 updates; 2026-11-25) it lies between -0.004 and 0.82, with the sign turned mostly below -0.05.
    """

    against: float = -0.02
    """Cosine below which an update went against its advantages. Engineering default."""
    usual: float = 0.0
    """Least cosine of the rows before (their lowest tenth), for a change to tell. By definition."""
    rows: int = 8
    """Rows that say what is usual, or that must all go against it where they are the first. Engineering default."""
    lasts: int = 3
    """Rows in a row after a change. Engineering default: one update may be mostly noise."""
    clear: float = -0.05
    """Cosine in the middle one of them. Engineering default: chance in 512 rows is 0.044."""
    share: float = 0.25
    """Share of the usual cosine that it must be at least, on the other side of 0: where a bonus for entropy
    outweighs small advantages, it is a little below; with the sign turned, 0.5 to 1.2 of it. Engineering default."""


PPO = synth.like("PPO")
RIGHT = synth.flat(0.25, 0.3)
WRONG = synth.flat(-0.15, 0.3)
CASES = (
    fires("the sign of the loss turns half-way", lambda: PPO({FOLLOW: synth.after(0.5, WRONG, RIGHT)})),
    fires("wrong from the start", lambda: PPO({FOLLOW: WRONG})),
    healthy("better actions become likelier", lambda: PPO({FOLLOW: RIGHT})),
    near_miss("hardly at all: an anchor or a bonus outweighs them", lambda: PPO({FOLLOW: synth.flat(0.0, 0.03)})),
    near_miss(
        "a task is solved, and a bonus for entropy leads for a while",
        lambda: PPO({FOLLOW: synth.after(0.6, synth.flat(-0.06, 0.3), synth.flat(0.5, 0.1))}),
    ),
    near_miss("two updates of noise", lambda: PPO({FOLLOW: synth.spikes(0.25, -0.3, (0.597, 0.606))})),
)


@rule(
    "POL049",
    "update-against-advantage",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(FOLLOW,),
    min_points=8,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("return-collapse", "reward-flat", "smooth-decline", "entropy-growing", "return-below-start"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Updates make those actions rarer that turned out better than expected.

    What it means:
        Over the batch that an update was made on, the change of log-probability that it brought goes against the
        advantages. A step along the policy's gradient raises their product, whatever the clip, the step or the network.

    Why it matters:
        The policy unlearns. Losses, KL and entropy look as always; the return tells it only when much is lost.

    Usual causes:
        The sign of the surrogate or of the log-probability in it; a ratio the wrong way round; advantages that reach
        the loss in another order than the actions; minimiser and maximiser exchanged.

    What to try:
        On one batch give a single action a positive advantage and all others 0: one step must make it likelier.

    When it is harmless:
        Where another term is meant to lead for a while: a strong anchor, imitation, a bonus for entropy.

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7. Sutton et al. 2000, NeurIPS 12 (policy gradient theorem).
    """
    points = view.get(FOLLOW)
    assert points is not None
    told = np.isfinite(points.value)
    step, value = points.step[told], points.value[told]
    place = turned(value, params)
    if place is None:
        return None
    now = median(value[place : place + (params.lasts if place else params.rows)])
    return Detection(
        message=f"what updates change goes with the advantages at {now:.2f}: better actions become rarer",
        onset=view.onset(float(step[max(place - 1, 0)]), float(step[place])),
        metric=FOLLOW,
        evidence={"cosine": now, "median_before": median(value[:place]) if place else now},
    )


def turned(value: Floats, params: Params) -> int | None:
    """Return the row of `value` [n] from which updates go against advantages; 0 where they always did."""
    first = value[: params.rows]
    if first.size == params.rows and first.max() < params.against and median(first) <= params.clear:
        return 0
    if value.size < params.rows + params.lasts:
        return None
    for place in np.flatnonzero(largest_of(value, params.lasts)[params.rows :] < params.against) + params.rows:
        now, usual = median(value[place : place + params.lasts]), median(value[:place])
        clear = now <= min(params.clear, -params.share * usual)
        if clear and quantile(value[:place], 0.1) >= params.usual:
            return int(place)
    return None
