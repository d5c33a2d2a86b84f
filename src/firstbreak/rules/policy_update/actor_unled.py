"""The rule `actor-unled`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

LED = "policy/action_gradient_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `actor-unled`."""

    rows: int = 5
    """Rows on end in which not one step was led by the critic. The figure is exact; a few rows may hold steps that
    somebody made apart. Engineering default."""
    at_once: int = 2
    """Rows on end that are enough where every step was led until then, in `before` rows at least: nobody makes steps
    apart there. The first of them may be the row in which it began. Engineering default."""
    before: int = 20
    """Rows in which every step was led, from which on that is how this run trains. Engineering default: a tenth of an
    ordinary log."""


SAC = synth.like("SAC")
APART = synth.spikes(1.0, 0.0, at=(0.05, 0.06, 0.07, 0.6, 0.61, 0.62), noise=0.0)
CASES = (
    fires("its action is detached", lambda: SAC({LED: synth.constant(0.0)})),
    fires("from the middle on", lambda: SAC({LED: synth.after(0.5, synth.constant(0.0), synth.constant(1.0))})),
    healthy("each step is led", lambda: SAC({LED: synth.constant(1.0)})),
    near_miss("every second step has another loss", lambda: SAC({LED: synth.constant(0.5)})),
    near_miss("a short warm-up on demonstrations", lambda: SAC({LED: synth.spikes(1.0, 0.0, at=(0.0, 0.02))})),
    near_miss("one row", lambda: SAC({LED: synth.spikes(1.0, 0.0, at=(0.5,))})),
    near_miss("three rows, and three early on: some steps are made apart here", lambda: SAC({LED: APART})),
)


@rule(
    "POL110",
    "actor-unled",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(LED,),
    min_points=5,
    params=Params(),
    cases=CASES,
    implies=(
        "reward-flat",
        "actor-at-rest",
        "entropy-stuck-high",
        "alpha-runaway",
        "alpha-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The actor is trained, but not by the critic: no gradient of the value reaches its action.

    What it means:
        Before each step of the actor's optimiser the critic was asked about stored or detached actions only. The
        gradient of the actor's loss then holds nothing of the value; of SAC only the entropy is still trained.

    Why it matters:
        The critic learns what a policy is worth that never improves. Losses, values and entropy look as in other runs.

    Usual causes:
        `detach()` or `no_grad` around the sampled action; `sample` in place of `rsample`; the stored action in the
        actor's loss; a numpy round trip.

    What to try:
        `firstbreak preflight invariants TRAINER` (its check `actor-ignores-critic`); sample with `rsample`, and give
        the critic that very tensor.

    When it is harmless:
        While the actor is trained on demonstrations alone for long; it is silent once the critic leads.

    References:
        Haarnoja et al. 2018, arXiv 1801.01290, equation 13 (the gradient goes through the sampled action).
    """
    led = view.get(LED)
    assert led is not None
    ever = led.value != 0
    start = int(ever.nonzero()[0][-1]) + 1 if ever.any() else 0
    unled = len(led) - start
    if unled < params.rows and not (unled and broke_off(led.value[:start], unled, params)):
        return None
    onset = persistent_onset(led.step[start:], led.value[start:] == 0, 1)
    assert onset is not None
    return Detection(
        message=f"not one of the actor's steps was led by the critic in the last {unled} rows",
        onset=view.onset(*onset),
        metric=LED,
        evidence={"rows": unled, "led_frac": led.last},
    )


def broke_off(before: Floats, unled: int, params: Params) -> bool:
    """Whether every step was led in `before` [n] but for the row in which it began, and enough rows since were not."""
    partly = int(before.size > 0 and before[-1] < 1)
    led = before[: before.size - partly]
    return led.size >= params.before and bool((led == 1).all()) and partly + unled >= params.at_once
