"""The rule `kl-coef-negative`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

COEF = "policy/kl_coef"


@dataclass(frozen=True)
class Params:
    """`kl-coef-negative` has no thresholds: a penalty has no negative coefficient."""


GRPO = synth.like("GRPO", config={"kl_coef": 0.05})
SIGN_IN_CONFIG = synth.like("GRPO", config={"kl_coef": -0.05})

CASES = (
    fires("turned round midway", lambda: GRPO({COEF: synth.jump(0.05, -0.5)})),
    fires("negative in the configuration", lambda: SIGN_IN_CONFIG({})),
    healthy("a constant penalty", lambda: GRPO({COEF: synth.constant(0.05)})),
    near_miss("an adaptive coefficient that falls to 0", lambda: GRPO({COEF: synth.ramp(0.2, 0.0, 0.0, until=0.5)})),
)


@rule(
    "POL038",
    "kl-coef-negative",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    when=("reference",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "kl-ref-runaway",
        "kl-term-reversed",
        "language-drift",
        "repetition-rising",
        "truncation-growing",
        "shaped-diverges-from-raw",
        "advantage-mean-biased",
        "zero-std-groups",
        "reward-std-collapse",
        "return-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "value-scale-mismatch",
        "value-clip-binding",
        "reward-flat",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The coefficient of the KL penalty is below 0: the policy is paid for leaving its reference.

    What it means:
        A row of the log, or the configuration, holds a negative coefficient.

    Why it matters:
        Nothing bounds how far the policy goes; text turns to noise while the shaped reward rises.

    Usual causes:
        A minus sign too many, in the configuration or in what adapts the coefficient.

    What to try:
        Set it to its absolute value; go back to the last checkpoint from before it turned.

    When it is harmless:
        Never where it is meant as a penalty.

    References:
        Ziegler et al. 2019, arXiv 1909.08593, section 2.2 (the penalty and its adaptive coefficient, above 0).
    """
    logged = view.get(COEF)
    if logged is not None and len(logged) and logged.min < 0:
        place = int((logged.value < 0).argmax())
        return Detection(
            message=f"the KL coefficient is {logged.value[place]:.3g} from {view.clock} {logged.step[place]:.6g} on",
            onset=view.onset(logged.step[max(place - 1, 0)], logged.step[place]),
            metric=logged.metric,
            evidence={"kl_coef": float(logged.value[place])},
        )
    told = view.number("kl_coef")
    if told is None or told >= 0 or (logged is not None and len(logged)):
        return None
    return Detection(
        message=f"the configuration sets the KL coefficient to {told:.3g}",
        onset=view.onset(min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0)),
        metric="",
        evidence={"kl_coef": told},
    )
