"""The rule `ratio-off-at-first-minibatch`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

FIRST = "policy/ratio_first_minibatch"


@dataclass(frozen=True)
class Params:
    """Thresholds of `ratio-off-at-first-minibatch`; engineering defaults where no source is named."""

    bound: float = 0.02
    """Distance of the mean ratio from 1 that one row proves wrong. bfloat16 log-probabilities are off by about 0.01
    nats each and average out; nothing honest reaches 2 % on a batch."""
    drift: float = 0.002
    """Distance that is suspicious when it lasts; float32 keeps within 1e-3."""
    updates: int = 5
    """Consecutive updates beyond `drift`."""
    held: int = 16
    """Updates on end in which the ratio was 1 to float precision, after which less tells ..."""
    exact: float = 1e-4
    """... and what float precision is: sums of thousands of float32 stay within a tenth of it."""
    left: float = 1e-3
    """Distance that it then has in `fewer` updates on end. Of the recorded runs (development half and live campaigns,
    corpus of 2026-11-26) no unbroken one that had held it ever leaves it."""
    fewer: int = 3
    """Updates on end that must lie so far off."""


PPO = synth.like("PPO")
EXACT = synth.flat(1.0, 1e-6)

CASES = (
    fires("another action's log-probability", lambda: PPO({FIRST: synth.flat(1.6, 0.2)})),
    fires("small and lasting", lambda: PPO({FIRST: synth.flat(1.006, 0.0005)})),
    fires("it was 1 to float precision", lambda: PPO({FIRST: synth.after(0.6, synth.flat(1.0, 0.004), EXACT)})),
    healthy("1 to float precision", lambda: PPO({FIRST: synth.flat(1.0, 1e-6)})),
    near_miss("half-precision scatter around 1", lambda: PPO({FIRST: synth.flat(1.0, 0.001)})),
    near_miss(
        "old policy is the stale sampler",
        lambda: synth.like("PPO", config={"max_staleness": 4, "decoupled_loss": False})({FIRST: synth.flat(1.1, 0.05)}),
    ),
)


@rule(
    "POL005",
    "ratio-off-at-first-minibatch",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(FIRST,),
    when=("on_policy",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("kl-overshoot", "clip-fraction-high", "ratio-tail", "ratio-off-one", "kl-clip-inconsistent"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Before any step is made the new policy already differs from the one that is said to have acted.

    What it means:
        At the first minibatch the weights are those that collected the data, so every importance ratio is 1. It is
        not.

    Why it matters:
        The surrogate compares with the wrong policy from the start; clipping and KL mean nothing, whatever the step.

    Usual causes:
        A new action sampled where the stored one's log-probability is needed; buffer not cleared; dropout or running
        normalisation between collecting and learning; padding or mask differences; low precision.

    What to try:
        Run one update with learning rate 0: the ratio must be 1 at every sample.

    When it is harmless:
        In asynchronous training without a decoupled loss the old policy is a stale one on purpose; then the rule does
        not look.

    References:
        Schulman et al. 2017, arXiv 1707.06347. Huang et al. 2022, "The 37 implementation details of PPO".
    """
    stale = (view.number("max_staleness") or 0) > 0 and not view.config("decoupled_loss")
    lag = view.get("async/staleness_max", "async/staleness_mean")
    if stale or (lag is not None and lag.max > 0 and not view.config("decoupled_loss")):
        return Skip("asynchronous data: the ratio is taken against a stale policy", ("async/behave_ratio_mean",))
    ratio = view.get(FIRST)
    assert ratio is not None
    off = np.abs(ratio.value - 1)
    sure = persistent_onset(ratio.step, off > params.bound, 1)
    asked = [sure, persistent_onset(ratio.step, off > params.drift, params.updates)]
    if off.size > params.held and float(off[: params.held].max()) <= params.exact:
        asked.append(persistent_onset(ratio.step, off > params.left, params.fewer))
    over = min((found for found in asked if found is not None), key=lambda found: found[1], default=None)
    if over is None:
        return None
    since = ratio.value[ratio.step >= over[1]]
    return Detection(
        message=f"importance ratio is {median(since):.4g} before the first step of an update; it must be 1",
        onset=view.onset(*over),
        metric=ratio.metric,
        evidence={"ratio": median(since), "largest_distance": float(off.max())},
        severity=None if sure is not None else Severity.WARNING,
    )
