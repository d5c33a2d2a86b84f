"""The rule `trace-decay-out-of-range`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, Skip, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """The bounds are those of the definition."""


IN_FORCE = "critic/gae_lambda"
PPO = synth.like("PPO")

CASES = (
    fires("1.3 from the middle on", lambda: PPO({IN_FORCE: synth.jump(0.95, 1.3, at=0.5, noise=0)})),
    fires("set to 95", lambda: synth.like("PPO", config={"gae_lambda": 95.0})({})),
    fires("below 0", lambda: PPO({IN_FORCE: synth.constant(-0.1)})),
    healthy("0.95", lambda: PPO({IN_FORCE: synth.constant(0.95)})),
    near_miss("1, the return itself", lambda: PPO({IN_FORCE: synth.constant(1.0)})),
    near_miss("a schedule that raises it to 1", lambda: PPO({IN_FORCE: synth.ramp(0.8, 1.0, 0.0)})),
)


@rule(
    "CRT044",
    "trace-decay-out-of-range",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "value-loss-explosion",
        "return-scale-unnormalised",
        "critic-gradient-explosion",
        "grad-norm-explosion",
        "critic-fit-lost",
        "advantages-not-by-reward",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Lambda of the advantages is no weight: above 1, or negative.

    What it means:
        Generalised advantage estimation averages returns of all lengths with weights that fall by lambda. The settings,
        or what is in force, hold one outside [0, 1].

    Why it matters:
        Above 1 the errors furthest away count most: advantages, and the targets that are made of them, grow with the
        length of the rollout.

    Usual causes:
        A slip of a digit; a percentage; lambda exchanged with another setting; a schedule without an end.

    What to try:
        Print lambda where advantages are computed, at the first and at the newest update.

    When it is harmless:
        Never: it is arithmetic.

    References:
        Schulman et al. 2016, arXiv 1506.02438, equation 16.
    """
    points = view.get(IN_FORCE)
    if points is not None:
        outside = (points.value < 0) | (points.value > 1)
        if not outside.any():
            return None
        place = int(outside.argmax())
        onset, value = view.onset(float(points.step[max(0, place - 1)]), float(points.step[place])), points.value[place]
    else:
        given = view.number("gae_lambda")
        if given is None:
            return Skip("lambda is not known", (IN_FORCE, "config gae_lambda"))
        if 0 <= given <= 1:
            return None
        onset, value = view.onset(0.0), given
    return Detection(
        message=f"lambda of the advantages is {float(value):.3g}; it lies between 0 and 1",
        onset=onset,
        metric=IN_FORCE,
        evidence={"lambda": float(value)},
    )
