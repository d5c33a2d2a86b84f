"""The rule `mmrkhs-kl-inert`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `mmrkhs-kl-inert`; engineering defaults where no source is named."""

    penalty: float = 3.0
    """KL / eta of one update that no normalised advantage can pay for: the surrogate gains at most the mean of the
    largest advantages, a few standard deviations."""
    kl_nats: float = 1.0
    """KL per update that must go with it."""
    updates: int = 5
    """Consecutive updates beyond."""


MM = synth.like("MM-RKHS")
KL, WEIGHT = "policy/kl_old", "policy/kl_inv_eta"

CASES = (
    fires("large KL at full weight", lambda: MM({KL: synth.flat(6, 0.1), WEIGHT: synth.flat(2)})),
    healthy("KL held down", lambda: MM({WEIGHT: synth.flat(2)})),
    near_miss("large KL, tiny weight", lambda: MM({KL: synth.flat(6, 0.1), WEIGHT: synth.flat(0.01)})),
    near_miss("two bad updates", lambda: MM({KL: synth.spikes(0.01, 8, at=(0.3, 0.6)), WEIGHT: synth.flat(2)})),
)


@rule(
    "POL020",
    "mmrkhs-kl-inert",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(KL, WEIGHT),
    when=("mmd",),
    params=Params(),
    cases=CASES,
    implies=("kl-overshoot", "entropy-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """KL per update stays at nats although its penalty should outweigh anything the surrogate can gain.

    What it means:
        The weight 1 / eta times the logged KL is above every gain that normalised advantages allow, and KL does not
        fall. So the term has no effect on the gradient, or the logged KL is not the penalised one.

    Why it matters:
        The regulariser that the method relies on is switched off unnoticed.

    Usual causes:
        KL computed without gradient; a new action sampled for its log-probability (then it is large at identical
        policies too); metric divided by the wrong count.

    What to try:
        Take the gradient of the KL term alone: it must not be None or 0. Run with learning rate 0: KL must be 0.

    When it is harmless:
        Never for many updates in a row; at a small weight the rule does not apply.

    References:
        Gupta and Mahajan 2026, arXiv 2603.17875, equation 6.2.
    """
    kl, weight = view.get(KL), view.get(WEIGHT)
    assert kl is not None
    assert weight is not None
    if len(weight) == 0 or len(kl) < params.updates:
        return None
    penalty = kl.value * np.interp(kl.step, weight.step, weight.value)
    beyond = (penalty > params.penalty) & (kl.value > params.kl_nats)
    over = persistent_onset(kl.step, beyond, params.updates)
    recent = slice(-params.updates, None)
    if over is None or not beyond[recent].all() or linear_trend(kl.step[recent], kl.value[recent]).z < -3:
        return None
    return Detection(
        message=f"KL stays at {median(kl.value[recent]):.3g} nats at a penalty of {median(penalty[recent]):.3g}",
        onset=view.onset(*over),
        metric=kl.metric,
        evidence={"kl_nats": median(kl.value[recent]), "penalty": median(penalty[recent])},
    )
