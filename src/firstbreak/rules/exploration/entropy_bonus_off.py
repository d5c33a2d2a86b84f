"""The rule `entropy-bonus-off`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-bonus-off`. Engineering defaults."""

    factor: float = 10.0
    """Logged coefficient over the one in the settings; schedules lower it, none raises it so far."""
    rows: int = 3
    """Consecutive rows."""


COEFFICIENT = "policy/ent_coef"
SET = synth.like("GRPO", config={"ent_coef": 1e-3})
ADAPTIVE = synth.like("GRPO", config={"ent_coef": 1e-3, "use_adaptive_entropy": True})
CASES = (
    fires("five thousand times the one in the settings", lambda: SET({COEFFICIENT: synth.jump(1e-3, 5.0, noise=0)})),
    healthy("as set", lambda: SET({COEFFICIENT: synth.constant(1e-3)})),
    near_miss("lowered by a schedule", lambda: SET({COEFFICIENT: synth.ramp(1e-3, 1e-5, 0.0)})),
    near_miss("steered towards a target", lambda: ADAPTIVE({COEFFICIENT: synth.ramp(1e-3, 0.5, 0.0)})),
)


@rule(
    "EXP022",
    "entropy-bonus-off",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(COEFFICIENT,),
    needs_config=("ent_coef",),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("entropy-growing", "entropy-stuck-high", "return-collapse", "truncation-growing", "zero-std-groups"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The coefficient of the entropy bonus in force is many times the one in the settings.

    What it means:
        The log holds the coefficient that the loss used, the settings the one that was asked for.

    Why it matters:
        A bonus that outweighs the reward is met by randomness: the policy forgets what it learned.

    Usual causes:
        A controller that ran away; a unit mistaken (summed over tokens, or the mean); a value overwritten in code.

    What to try:
        Set it to 0 for a short run: reward must rise and entropy fall.

    When it is harmless:
        When something raises it on purpose, towards a target say; where the settings say so the rule stays silent.

    References:
        None; the rule compares a setting with its log.
    """
    used, planned = view.get(COEFFICIENT), view.number("ent_coef")
    assert used is not None
    if planned is None or planned <= 0 or view.config("use_adaptive_entropy") or view.config("target_entropy"):
        return None
    over = persistent_onset(used.step, used.value > params.factor * planned, params.rows)
    if over is None:
        return None
    return Detection(
        message=f"the coefficient of the entropy bonus is {used.max:.3g}; the settings say {planned:.3g}",
        onset=view.onset(*over),
        metric=COEFFICIENT,
        evidence={"coefficient": used.max, "configured": planned},
    )
