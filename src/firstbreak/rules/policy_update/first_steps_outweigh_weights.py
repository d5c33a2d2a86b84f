"""The rule `first-steps-outweigh-weights`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

DELTA = "optim/weight_delta"


@dataclass(frozen=True)
class Params:
    """Thresholds of `first-steps-outweigh-weights`."""

    times: float = 2.0
    """Length of a step over that of the weights from which on, whichever way it points, what comes of them is at least
    as long as they were (triangle inequality) and holds more of the step than of them. Of 1,230 runs of language models
    of the benchmarks (2026-11-26) none without a fault comes to 0.1, and a rate times 100 to 0.37."""
    updates: int = 4
    """Updates within which it must happen: the rate is wrong from the start, and a row that sums up many updates is no
    step. Where a step outgrows others later, its rate may be as ever (`steps-outgrow-rate`). Engineering default."""


GRPO = synth.like("GRPO")
THROWN = synth.after(0.02, synth.flat(0.1, 0.05), synth.geometric(4.0, 0.3, 0.05, until=0.02))
CASES = (
    fires("the first step is four times the weights", lambda: GRPO({DELTA: THROWN})),
    healthy("a thousandth of the weights", lambda: GRPO({DELTA: synth.flat(1e-3, 0.05)})),
    near_miss("a row sums up many updates", lambda: synth.like("GRPO", step=10.0)({DELTA: THROWN})),
    near_miss("a large rate", lambda: GRPO({DELTA: synth.geometric(0.4, 0.05, 0.05)})),
    near_miss("one long step later on", lambda: GRPO({DELTA: synth.spikes(0.01, 9.0, at=(0.6,))})),
    near_miss(
        "weights that begin at 0, as those of an adapter do",
        lambda: GRPO({DELTA: synth.after(0.005, synth.geometric(1.0, 0.01, 0.05), synth.constant(float("inf")))}),
    ),
)


@rule(
    "POL150",
    "first-steps-outweigh-weights",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(DELTA,),
    when=("language",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "response-collapse", "token-entropy-collapse", "zero-std-groups", "reward-std-collapse", "entropy-growing",
        "weights-hardly-move", "policy-jumps", "policy-departs", "policy-moves-at-once", "kl-overshoot",
        "clip-fraction-high", "reward-flat", "reward-steps-down", "return-collapse", "grad-norm-zero",
        "grad-norm-explosion", "metrics-frozen", "truncation-growing", "component-dead", "language-drift",
    ),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """One of the first steps was longer than the weights that it moved: what the model knew is gone.

    What it means:
        The weights changed, within the first updates, by twice their own length and more.

    Why it matters:
        A policy-gradient step is right in the neighbourhood of the weights only, and a language model knows what it
        knows by them. What is left answers one thing to all, or noise, and nothing in the rewards leads back.

    Usual causes:
        A learning rate in the wrong unit or with a slip of some digits; one that was meant for another optimiser.

    What to try:
        Make one update and print the norm of the change over the norm of the weights: full fine-tuning changes them by
        far less than a hundredth.

    When it is harmless:
        Where the weights that are trained began near 0, as those of some adapters do.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, section 2.1 (a step of Adam is about as long as its rate in each weight).
    """
    delta = view.get(DELTA)
    assert delta is not None
    if view.clock != "updates":
        return Skip("rows are not counted in updates")
    first = delta.value[delta.step <= params.updates]
    found = np.flatnonzero(np.isfinite(first) & (first >= params.times))
    if not found.size:
        return None
    place = int(found[0])
    longest = float(first[place])
    return Detection(
        message=f"one of the first steps changed the weights by {longest:.3g} times their norm",
        onset=view.onset(delta.step[max(place - 1, 0)], delta.step[place]),
        metric=delta.metric,
        evidence={"times": longest},
    )
