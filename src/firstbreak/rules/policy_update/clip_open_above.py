"""The rule `clip-open-above`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

RATIO = "policy/ratio_max"
LOW, HIGH = "policy/clip_fraction_low", "policy/clip_fraction_high"


@dataclass(frozen=True)
class Params:
    """Thresholds of `clip-open-above`. Engineering defaults."""

    times: float = 2.0
    """How many times the upper clip range the largest ratio of a row must lie above 1: well past the bound, not a
    rounding or the last step of an update."""
    rows: int = 10
    """Rows in which that must be so while nothing counts as clipped from above. A large ratio may belong to a negative
    advantage, which the upper bound leaves alone; that it does so ten times over has a chance of about 0.001."""
    far: float = 10.0
    """Largest ratio from which a side that the settings leave open does harm: the token counts ten times over."""
    below: float = 0.5
    """Share of those rows in which the lower bound must bind: then clipping is counted, and on one side only."""


GRPO = synth.like("GRPO", config={"clip_range": 0.2})
OPEN = {
    RATIO: synth.clipped(synth.flat(6.0, 0.3), 1.5, 60),
    LOW: synth.clipped(synth.flat(0.08, 0.2), 0.01, 1),
    HIGH: synth.constant(0.0),
}
CASES = (
    fires("ratios of six, none of them clipped from above", lambda: GRPO(OPEN)),
    fires("from the middle on", lambda: GRPO(OPEN | {RATIO: synth.after(0.5, OPEN[RATIO], synth.constant(1.1))})),
    healthy("both sides bind", lambda: GRPO(OPEN | {HIGH: synth.clipped(synth.flat(0.06, 0.2), 0.01, 1)})),
    fires(
        "the setting is infinity, and ratios run to dozens",
        lambda: synth.like("GRPO", config={"clip_range": 0.2, "clip_range_high": float("inf")})(
            OPEN | {RATIO: synth.clipped(synth.flat(40.0, 0.3), 12, 90)}
        ),
    ),
    near_miss(
        "the setting is infinity, and ratios stay small",
        lambda: synth.like("GRPO", config={"clip_range": 0.2, "clip_range_high": float("inf")})(OPEN),
    ),
    near_miss("ratios stay within the range", lambda: GRPO(OPEN | {RATIO: synth.clipped(synth.flat(1.2, 0.02), 1, 2)})),
    near_miss("fractions of both sides stay 0: they are not counted", lambda: GRPO(OPEN | {LOW: synth.constant(0.0)})),
    near_miss(
        "a wide upper range on purpose",
        lambda: synth.like("GRPO", config={"clip_range": 0.2, "clip_range_high": 40.0})(OPEN),
    ),
)


@rule(
    "POL040",
    "clip-open-above",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(RATIO, LOW, HIGH),
    when=("ppo_clip",),
    min_points=10,
    across_phases=True,
    implies=(
        "kl-overshoot",
        "ratio-tail",
        "policy-loss-spike",
        "token-entropy-collapse",
        "zero-std-groups",
        "wrong-groups-grow",
        "reward-std-collapse",
        "advantage-collapse",
        "pass-at-k-falls",
        "entropy-growing",
        "return-collapse",
    ),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Importance ratios run far past the upper clip range, and none of them is ever clipped there.

    What it means:
        The lower bound of the ratio binds, the upper one does not: probabilities may grow without limit within the
        steps on one batch, although a range is set.

    Why it matters:
        A few lucky tokens are raised until they are certain. Each batch is followed further than its samples support;
        entropy goes, and the policy with it.

    Usual causes:
        An upper bound that is missing, infinite or never passed on; min and max mixed up; the clamp on one side only.

    What to try:
        Compute the surrogate of one token with advantage 1 at ratios 1, 1.2 and 5: the last two must be equal.

    When it is harmless:
        When the upper side is open on purpose: where the settings say so (an infinite upper range), the rule speaks
        only if ratios of ten and more come up again and again.

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7. Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.1.
    """
    ratio, low, high = view.get(RATIO), view.get(LOW), view.get(HIGH)
    assert ratio is not None
    assert low is not None
    assert high is not None
    asked = view.config("clip_range_high") is not None and view.number("clip_range_high") is None  # set to infinity
    upper = upper_range(view)
    if upper is None:
        return Skip("the upper clip range is not known", ("policy/clip_range", "config clip_range"))
    step = np.intersect1d(np.intersect1d(ratio.step, low.step), high.step)
    largest, below, above = (p.value[np.isin(p.step, step)] for p in (ratio, low, high))
    past = np.flatnonzero(largest > 1 + params.times * upper)
    if past.size < params.rows or above.max() > 0 or (below[past] > 0).mean() < params.below:
        return None
    if asked and (largest[past] >= params.far).sum() < params.rows:
        return None
    first = int(past[0])
    return Detection(
        message=f"ratios up to {largest.max():.3g} in {past.size} rows, none clipped at {1 + upper:.3g} from above",
        onset=view.onset(float(step[max(first - 1, 0)]), float(step[first])),
        metric=RATIO,
        evidence={"ratio_max": float(largest.max()), "rows": int(past.size), "upper_range": upper},
    )


def upper_range(view: RunView) -> float | None:
    """Return how far above 1 a ratio may go, from the settings or as logged; None where neither says.

    Where the settings put no end to it, the range that holds below stands in.
    """
    high = view.number("clip_range_high")
    if high is not None:
        return high
    logged = view.get("policy/clip_range")
    return logged.last if logged is not None and len(logged) and logged.last > 0 else view.number("clip_range")
