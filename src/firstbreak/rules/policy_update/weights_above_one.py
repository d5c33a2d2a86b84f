"""The rule `weights-above-one`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import RunLog
from firstbreak.series import Floats
from firstbreak.view import RunView

KL, DIFFERENCE = "policy/kl_old", "policy/kl_k1"
NORMALISED = "normalize_advantage"


@dataclass(frozen=True)
class Params:
    """Thresholds of `weights-above-one`."""

    errors: tuple[tuple[int, float], ...] = ((16, 7.46), (32, 5.83), (64, 5.24), (128, 4.98))
    """Latest updates that are looked at, and how many standard errors their mean must be above 1: what Student's t with
    so many less one degrees of freedom exceeds once in a million times (Student 1908): a run is looked at often."""
    share: float = 0.85
    """Of the KL, what the weights' mean must be above 1. Where log-probabilities are of other actions, the difference
    of the two is about 0 and this is 1. A policy that was fitted to the very batch makes what was drawn likelier:
    calibrated on 190 sound trainings of PPO and A2C, of which it went to 0.7 of the KL for sixteen updates."""
    least_nats: float = 0.002
    """KL under which nothing is said: calibrated on the same trainings, where it was up to 40 times a KL below it."""


PPO = synth.like("PPO")
SOUND = {KL: synth.flat(0.01, 0.1), DIFFERENCE: synth.flat(0.01, 0.5)}
ALONE = synth.flat(0.0005, 0.5)


def clean(curves: Mapping[str, synth.Shape], **config: object) -> RunLog:
    """A run that logs both estimates of one batch."""
    log = synth.like("PPO", config=config)(curves)
    kinds = {KL: "k3", DIFFERENCE: "k1"}
    return replace(log, series=tuple(replace(s, estimator=kinds.get(s.metric, s.estimator)) for s in log.series))


CASES = (
    fires("log-probabilities of other actions", lambda: clean(SOUND | {DIFFERENCE: ALONE})),
    fires("from the middle on", lambda: clean(SOUND | {DIFFERENCE: synth.after(0.5, ALONE, SOUND[DIFFERENCE])})),
    healthy("both estimate one KL", lambda: clean(SOUND)),
    near_miss("below 1, as a clip leaves them", lambda: clean(SOUND | {DIFFERENCE: synth.flat(0.014, 0.3)})),
    near_miss("one odd batch", lambda: clean(SOUND | {KL: synth.spikes(0.01, 0.5, at=(0.5,), noise=0.1)})),
    near_miss("hardly above 1", lambda: clean(SOUND | {DIFFERENCE: synth.flat(0.008, 0.1)})),
    near_miss("a policy fitted to the very batch", lambda: clean(SOUND | {DIFFERENCE: synth.flat(0.004, 0.1)})),
    near_miss("a policy that hardly moves", lambda: clean({KL: synth.flat(0.0004), DIFFERENCE: synth.flat(-0.0006)})),
    near_miss(
        "advantages that are not centred raise all that was drawn",
        lambda: clean(SOUND | {DIFFERENCE: ALONE}, normalize_advantage=False),
    ),
    near_miss("estimates of which nobody says how they are made", lambda: PPO(SOUND | {DIFFERENCE: ALONE})),
)


@rule(
    "POL137",
    "weights-above-one",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(KL, DIFFERENCE),
    when=("ppo_clip",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("clip-fraction-high", "kl-overshoot", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Two estimates of one KL disagree: the mean importance weight of the batch is above 1, update after update.

    What it means:
        With the difference of log-probabilities as one estimate and `weight - 1 - log weight` as the other, the second
        less the first is the mean weight less 1. Under actions that the old policy drew, and its log-probabilities of
        them, that is 0 in expectation, however far the new policy is.

    Why it matters:
        The ratio is not that of the actions which earned the advantages: the surrogate rises, and the policy learns
        nothing.

    Usual causes:
        The new log-probability is of an action that was drawn anew; log-probabilities kept as a column, so that rows
        are compared with all other rows; a rollout of an earlier policy under later log-probabilities.

    What to try:
        Compare the ratio before the first step of an update with 1, row by row; print the shapes of both
        log-probabilities.

    When it is harmless:
        Where advantages are not centred and most are positive, every drawn action becomes likelier.

    References:
        Schulman 2020, "Approximating KL divergence", http://joschu.net/blog/kl-approx.html, for both estimates; Owen
        2013, "Monte Carlo theory, methods and examples", chapter 9, for the mean.
    """
    kl, difference = view.get(KL), view.get(DIFFERENCE)
    assert kl is not None
    assert difference is not None
    one, other = kl.source, difference.source
    if (one.estimator, other.estimator) != ("k3", "k1") or one.aggregation != other.aggregation:
        return Skip("how the two KLs are estimated is not known, or differs", ())
    if view.config(NORMALISED) is False or not np.array_equal(kl.step, difference.step):
        return None
    above = kl.value - difference.value
    known = np.isfinite(above)
    step, above, size = kl.step[known], above[known], kl.value[known]
    for rows, errors in params.errors:
        if above.size < rows:
            break
        mean, nats = float(above[-rows:].mean()), float(size[-rows:].mean())
        if nats < params.least_nats or mean < params.share * nats or standard_errors(above[-rows:]) < errors:
            continue
        return Detection(
            message=f"importance weights average 1 + {mean:.3g} in {rows} updates, where KL is {nats:.3g} nats",
            onset=view.onset(float(step[-rows]), float(step[-1])),
            metric=kl.metric,
            evidence={"above_one": mean, "kl_nats": nats, "standard_errors": standard_errors(above[-rows:])},
        )
    return None


def standard_errors(values: Floats) -> float:
    """Return how many standard errors the mean of `values` [n] is above 0; 0 where they do not vary."""
    spread = float(values.std(ddof=1))
    return float(values.mean()) * float(np.sqrt(values.size)) / spread if spread > 0 else 0.0
