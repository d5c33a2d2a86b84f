"""The rule `difficulty-bias`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `difficulty-bias`: engineering defaults, except where a source is named."""

    share: float = 0.1
    """Spread within groups over the spread of the whole batch. For right-or-wrong rewards of groups that differ it is a
    third and more; a tenth means that noise is scaled up tenfold. Engineering default."""
    silent_frac: float = 0.5
    """Share of silent groups from which they are the story (see `zero-std-groups`)."""
    kept: float = 0.5
    """Share of the opening spread within groups below which it has collapsed instead (see `reward-std-collapse`)."""
    points: int = 8
    """Consecutive newest points. Engineering default."""
    off: tuple[str, ...] = ("none", "false", "batch", "centered")
    """Settings that do not divide by the group's own spread (TRL, scale_rewards; open-instruct, centered)."""


GRPO = synth.like("GRPO")

NONE = synth.like("GRPO", config={"scale_rewards": "none"})
WITHIN, OVER = "group/reward_std_mean", "reward/train_std"
TINY = {WITHIN: synth.flat(0.01, 0.1), OVER: synth.flat(0.4, 0.05)}

CASES = (
    fires("a judge that hardly tells the group apart", lambda: GRPO(TINY)),
    healthy("groups differ", lambda: GRPO({WITHIN: synth.flat(0.2, 0.05), OVER: synth.flat(0.4, 0.05)})),
    near_miss("not divided by the group's spread", lambda: NONE(TINY)),
    near_miss(
        "most groups are silent",
        lambda: GRPO({**TINY, "group/zero_std_fraction": synth.clipped(synth.flat(0.9, 0.02), 0, 1)}),
    ),
)


@rule(
    "POL026",
    "difficulty-bias",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    needs=(WITHIN, OVER),
    when=("groups",),
    min_points=8,
    implies=("reward-noisy", "grad-norm-explosion"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Advantages are divided by a spread within groups that is next to nothing.

    What it means:
        Rewards differ between prompts and hardly within a group; dividing by the group's own spread turns that rest
        into advantages of full size.

    Why it matters:
        Noise of the scorer is learned, and prompts that are nearly always or nearly never solved weigh the most.

    Usual causes:
        A reward model or judge with fine but meaningless differences; no least spread; prompts at the ends of
        difficulty.

    What to try:
        Do not divide by the group's spread (or divide by the batch's); drop groups below a least spread.

    When it is harmless:
        When small differences within a group are what is to be learned and are measured without noise.

    References:
        Liu et al. 2025 (Dr. GRPO), arXiv 2503.20783, section 3.1. Liu et al. 2025, arXiv 2508.08221.
    """
    if str(view.config("scale_rewards", "group")).lower() in params.off:
        return None
    within, over = view.get(WITHIN), view.get(OVER)
    assert within is not None
    assert over is not None
    n = params.points
    if min(len(within), len(over)) < n:
        return None
    silent = view.get("group/zero_std_fraction")
    dead = median(silent.value[-n:]) if silent is not None and len(silent) >= n else 0.0
    if dead >= params.silent_frac:
        return None
    whole = median(over.value[-n:])
    living = within.value / (1 - dead)
    small = living <= params.share * whole
    if median(within.value[-n:]) <= params.kept * opening(within.value):
        return None
    if whole <= 0 or not bool(small[-n:].all()) or bool((within.value[-n:] <= 0).any()):
        return None
    onset = persistent_onset(within.step, small, n)
    assert onset is not None
    recent = median(living[-n:])
    return Detection(
        message=f"spread within groups is {recent / whole:.1%} of the batch's, and advantages are divided by it",
        onset=view.onset(*onset),
        metric=WITHIN,
        evidence={"within": recent, "batch": whole, "silent_frac": dead},
    )
