"""The rule `reward-saturated-from-start`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, from_start, starts_late
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-saturated-from-start`. Engineering defaults where no source is named."""

    solved_frac: float = 0.9
    """Share of groups (or sequences) that are all right from the first row on. With p = 0.9 per group fewer than one
    prompt in ten teaches anything."""
    rows: int = 8
    """Rows from the start that must all show it."""


GRPO = synth.like("GRPO")
EASY = {
    "group/all_solved_fraction": synth.clipped(synth.flat(0.96, 0.02), 0, 1),
    "reward/train_mean": synth.flat(0.98, 0.01),
    "group/zero_std_fraction": synth.clipped(synth.flat(0.97, 0.01), 0, 1),
}
CASES = (
    fires("every group is solved from the start", lambda: GRPO(EASY)),
    fires(
        "success rate 1 from the start",
        lambda: GRPO(
            {
                "reward/success_rate": synth.clipped(synth.flat(0.99, 0.005), 0, 1),
                "group/zero_std_fraction": synth.flat(0.95, 0.01),
            }
        ),
    ),
    healthy("learns", lambda: GRPO({"group/all_solved_fraction": synth.clipped(synth.ramp(0.05, 0.4), 0, 1)})),
    near_miss(
        "solved after learning",
        lambda: GRPO({"group/all_solved_fraction": synth.clipped(synth.ramp(0.1, 1.2, 0.02, until=0.5), 0, 1)}),
    ),
    near_miss(
        "three quarters solved at the start",
        lambda: GRPO({"group/all_solved_fraction": synth.clipped(synth.ramp(0.75, 0.95), 0, 1)}),
    ),
)


@rule(
    "RWD014",
    "reward-saturated-from-start",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(("group/all_solved_fraction", "reward/success_rate"),),
    across_phases=True,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("zero-std-groups", "reward-constant", "reward-flat", "grad-norm-zero", "token-entropy-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Nearly everything earns the full reward from the first row on.

    What it means:
        The starting policy already solves what it is given, so groups hold no difference to learn from.

    Why it matters:
        The curve looks excellent and no learning takes place; noise decides the few remaining groups.

    Usual causes:
        Prompts too easy for the model; a scorer that accepts too much; answers that leak into the prompt.

    What to try:
        Read ten solved samples; score wrong answers on purpose; filter prompts by difficulty.

    When it is harmless:
        A log that continues a solved run.

    References:
        Yu et al. 2025, "DAPO", arXiv 2503.14476 (dynamic sampling drops solved groups).
    """
    points = view.get("group/all_solved_fraction", "reward/success_rate")
    assert points is not None
    if not len(points) or not (len(points) >= params.rows or ended(view)):
        return None
    opening = points.value[: params.rows]
    silent = view.get("group/zero_std_fraction")
    if opening.min() < params.solved_frac or (
        silent is not None and len(silent) and silent.value[: params.rows].min() < 0.5
    ):
        return None
    return Detection(
        message=f"{median(opening):.0%} solved from the first row on ({opening.size} rows)",
        onset=from_start(view, points),
        metric=points.metric,
        evidence={"solved_frac": median(opening), "rows": int(opening.size)},
        severity=Severity.INFO if starts_late(points) else None,
    )
