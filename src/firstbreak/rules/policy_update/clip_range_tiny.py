"""The rule `clip-range-tiny`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `clip-range-tiny`."""

    least: float = 0.01
    """Clip range that no published setting for control comes near: tuned ones end at 0.1 (RL Baselines3 Zoo; Schulman
    et al. 2017, table 1). Engineering default."""


PPO = synth.like("PPO")
CLIP = "policy/clip_range"
CASES = (
    fires("an exponent too many", lambda: PPO({CLIP: synth.constant(2e-6)})),
    fires("from the settings", lambda: synth.like("PPO", config={"clip_range": 0.002})({})),
    healthy("0.2", lambda: PPO({CLIP: synth.constant(0.2)})),
    near_miss("annealed to nothing", lambda: PPO({CLIP: synth.ramp(0.2, 0.0, 0.0)})),
    near_miss("a clip of sequences", lambda: synth.like("GRPO", config={"clip_range": 3e-4})({})),
)


@rule(
    "POL119",
    "clip-range-tiny",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    when=("control", "ppo_clip"),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("policy-frozen", "clip-fraction-high", "entropy-stuck-high", "surrogate-at-rest", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The clip range is so small that the loss lets no ratio move.

    What it means:
        Each action whose probability changed by more than the range has no gradient left. After the first mini-batch
        that is nearly all of them.

    Why it matters:
        The policy stays where it began, whatever the rewards say; the fraction that is clipped is near 1 at a KL of
        nearly 0.

    Usual causes:
        An exponent or a unit; a setting of a clip of whole sequences; a schedule that begins at its end.

    What to try:
        Print the range that the loss uses at the first update.

    When it is harmless:
        At the end of a schedule: the largest range of the run counts.

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7.
    """
    logged, given = view.get(CLIP), view.number("clip_range")
    if logged is not None and len(logged):
        clip, at = logged.max, float(logged.step[0])
    elif given is not None:
        clip, at = given, 0.0
    else:
        return Skip("the clip range is not known", (CLIP, "config clip_range"))
    if not 0 < clip < params.least:
        return None
    return Detection(
        message=f"the clip range is {clip:.3g}; tuned settings lie between 0.1 and 0.4",
        onset=view.onset(at),
        metric=CLIP,
        evidence={"clip_range": clip, "least": params.least},
    )
