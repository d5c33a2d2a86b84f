"""The rule `entropy-fined`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-fined`. What is asked is a sign."""

    rows: int = 3
    """Consecutive rows below 0. Engineering default."""


COEFFICIENT, PULL = "policy/ent_coef", "policy/ent_coef_gradient"
"""The coefficient as it is set, and as the gradient of the loss has it."""
PPO, GRPO = synth.like("PPO"), synth.like("GRPO")
CASES = (
    fires("the sign turns half-way", lambda: PPO({COEFFICIENT: synth.jump(0.01, -0.1, noise=0)})),
    fires("from none to a fine", lambda: PPO({COEFFICIENT: synth.jump(0.0, -0.1, noise=0)})),
    fires("from the first row on: a warning", lambda: PPO({COEFFICIENT: synth.constant(-0.01)})),
    fires("no setting says so, and the gradient does", lambda: GRPO({PULL: synth.jump(0.0, -0.1, noise=0)})),
    healthy("no bonus at all", lambda: GRPO({PULL: synth.constant(0.0)})),
    healthy("a bonus", lambda: PPO({COEFFICIENT: synth.constant(0.01)})),
    near_miss("a schedule that ends at 0", lambda: PPO({COEFFICIENT: synth.ramp(0.01, 0.0, 0.0, until=0.5)})),
    near_miss("one row past its schedule", lambda: PPO({COEFFICIENT: synth.spikes(0.01, -1e-4, (0.99,), 0)})),
)


@rule(
    "EXP037",
    "entropy-fined",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    any_of=((PULL, COEFFICIENT),),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("entropy-collapse", "action-std-collapse", "policy-frozen", "reward-flat", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The coefficient of the entropy bonus in force is below 0: entropy is fined.

    What it means:
        The loss takes coefficient times entropy off what it minimises, so that below 0 it rewards certainty. Where the
        coefficient was 0 or more before, this is an error; where it was negative from the first row, a warning.

    Why it matters:
        The policy is driven to be certain whatever the advantages say, and stops exploring for good.

    Usual causes:
        A schedule that runs past its end; a sign turned, or an entropy loss negated twice; a controller without a
        floor.

    What to try:
        Set the coefficient to 0 for a short run: entropy must no longer fall by itself.

    When it is harmless:
        Where certainty is wanted on purpose, to settle a policy at the end of training.

    References:
        Mnih et al. 2016, arXiv 1602.01783, section 4 (the bonus and its sign).
    """
    used = view.get(PULL, COEFFICIENT)
    assert used is not None
    over = persistent_onset(used.step, used.value < 0, params.rows)
    if over is None:
        return None
    turned = bool((used.value[used.step < over[1]] >= 0).any())
    return Detection(
        message=f"the coefficient of the entropy bonus is {used.min:.3g}: entropy is fined",
        onset=view.onset(*over),
        metric=used.metric,
        evidence={"smallest": used.min, "first": used.first},
        severity=None if turned else Severity.WARNING,
    )
