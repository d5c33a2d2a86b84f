"""The rule `actor-unled`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

LED = "policy/action_gradient_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `actor-unled`."""

    rows: int = 5
    """Rows on end in which not one step was led by the critic. The figure is exact; a few rows may hold steps that
    somebody made apart. Engineering default."""


SAC = synth.like("SAC")
CASES = (
    fires("its action is detached", lambda: SAC({LED: synth.constant(0.0)})),
    fires("from the middle on", lambda: SAC({LED: synth.after(0.5, synth.constant(0.0), synth.constant(1.0))})),
    healthy("each step is led", lambda: SAC({LED: synth.constant(1.0)})),
    near_miss("every second step has another loss", lambda: SAC({LED: synth.constant(0.5)})),
    near_miss("a short warm-up on demonstrations", lambda: SAC({LED: synth.spikes(1.0, 0.0, at=(0.0, 0.02))})),
    near_miss("one row", lambda: SAC({LED: synth.spikes(1.0, 0.0, at=(0.5,))})),
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
    last = led.value[-params.rows :]
    if last.size < params.rows or last.any():
        return None
    ever = led.value != 0
    start = int(ever.nonzero()[0][-1]) + 1 if ever.any() else 0
    onset = persistent_onset(led.step[start:], led.value[start:] == 0, params.rows)
    assert onset is not None
    return Detection(
        message=f"not one of the actor's steps was led by the critic in the last {len(led) - start} rows",
        onset=view.onset(*onset),
        metric=LED,
        evidence={"rows": len(led) - start, "led_frac": led.last},
    )
