"""The rule `wrong-groups-grow`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.rules.reward_signal import TRAIN, TRUTH, began, moved_odds, rises, stretches
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `wrong-groups-grow`: engineering defaults, except where a source is named."""

    z: float = 4.0
    """Standard errors by which the log-odds of a group without success must have risen, inflated for
    autocorrelation."""
    log_odds: float = 0.7
    """Least rise of the log-odds. Engineering default."""
    level: float = 0.4
    """Share of groups without success worth a warning. Engineering default."""


GRPO = synth.like("GRPO")

NONE, ALL = "group/none_solved_fraction", "group/all_solved_fraction"
LOSING = {NONE: synth.clipped(synth.ramp(0.1, 0.7, 0.02), 0, 1), "reward/train_mean": synth.ramp(0.6, 0.2, 0.03)}

CASES = (
    fires("groups lose their last success", lambda: GRPO(LOSING)),
    healthy("fewer and fewer", lambda: GRPO({NONE: synth.clipped(synth.ramp(0.5, 0.1, 0.02), 0, 1)})),
    near_miss(
        "silent because all is solved",
        lambda: GRPO(
            {
                NONE: synth.clipped(synth.flat(0.05, 0.2), 0, 1),
                ALL: synth.clipped(synth.ramp(0.1, 0.8, 0.02), 0, 1),
                "group/zero_std_fraction": synth.clipped(synth.ramp(0.2, 0.85, 0.02), 0, 1),
            }
        ),
    ),
    near_miss("hard from the start", lambda: GRPO({NONE: synth.clipped(synth.flat(0.6, 0.03), 0, 1)})),
)


@rule(
    "EXP021",
    "wrong-groups-grow",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    needs=(NONE,),
    when=("groups",),
    min_points=16,
    across_phases=True,
    implies=("zero-std-groups", "reward-std-collapse", "reward-flat"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """More and more groups hold no success at all, though they used to.

    What it means:
        Silent groups are all right or all wrong. Here the all-wrong share grows while the reward does not: the policy
        loses what it could do.

    Why it matters:
        All-right groups are a waste; all-wrong groups that used to differ are knowledge that no gradient brings back.

    Usual causes:
        Entropy spent on one template; truncation; a scorer that began to reject; prompts that got harder.

    What to try:
        Sample the prompts that turned silent with the first checkpoint and with this one; read ten answers of each.

    When it is harmless:
        A curriculum that moves to harder prompts.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.2. Yue et al. 2025, arXiv 2504.13837.
    """
    none = view.get(NONE)
    assert none is not None
    change = moved_odds(none)
    before, now = stretches(none.value)
    if change.z < params.z or change.difference < params.log_odds or median(now) < params.level:
        return None
    if any(rises(view.get(name)) for name in (*TRAIN, *TRUTH)):
        return None
    return unless_harder(
        view,
        Detection(
            message=f"groups without any success went from {median(before):.0%} to {median(now):.0%}",
            onset=began(view, none),
            metric=NONE,
            evidence={"opening_frac": median(before), "recent_frac": median(now), "z": change.z},
        ),
        at=float("inf"),
    )
