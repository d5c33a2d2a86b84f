"""The rule `clip-asymmetry`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, rises
from firstbreak.stats import linear_trend, median
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `clip-asymmetry`: engineering defaults, except where a source is named."""

    least: float = 1e-3
    """Fraction clipped on the stronger side that matters; token-level fractions of some thousandths are usual (DAPO
    logs). Engineering default."""
    least_control: float = 0.02
    """The same where the clock counts steps of an environment: whole actions, some hundreds to a batch. Engineering
    default: a tenth of the usual share."""
    factor: float = 5.0
    """The stronger side over the weaker. Engineering default."""
    entropy_factor: float = 1.5
    """Change of the entropy in the direction that this clipping causes. Engineering default."""
    points: int = 10
    """Newest points of the medians."""


GRPO = synth.like("GRPO")

LOW, HIGH, ENTROPY = "policy/clip_fraction_low", "policy/clip_fraction_high", "policy/entropy"
UPPER = {LOW: synth.clipped(synth.flat(0.0005, 0.2), 0, 1), HIGH: synth.clipped(synth.flat(0.01, 0.2), 0, 1)}
FLAT = {"reward/train_mean": synth.flat(0.4, 0.05)}

CASES = (
    fires("the upper clip holds rare tokens down", lambda: GRPO({**UPPER, **FLAT})),
    fires(
        "the upper side is open: entropy runs up",
        lambda: GRPO({**FLAT, LOW: UPPER[HIGH], HIGH: UPPER[LOW], ENTROPY: synth.ramp(0.8, 3.0, 0.03)}),
    ),
    healthy("both sides alike", lambda: GRPO({LOW: UPPER[HIGH], HIGH: UPPER[HIGH]})),
    near_miss("one side, reward rising", lambda: GRPO(UPPER)),
    near_miss(
        "two of five hundred actions",
        lambda: synth.like("PPO", clock="env_steps", step=64.0)(
            {LOW: synth.constant(0.0), HIGH: UPPER[HIGH], ENTROPY: synth.ramp(1.4, 0.4, 0.02)}
            | {"reward/episode_return_mean": synth.flat(0.4, 0.05)}
        ),
    ),
    near_miss("one side, entropy steady", lambda: GRPO({**UPPER, **FLAT, ENTROPY: synth.flat(1.0, 0.02)})),
    near_miss("hardly anything clipped", lambda: GRPO({**FLAT, LOW: synth.constant(1e-5), HIGH: synth.constant(2e-4)})),
)


@rule(
    "POL027",
    "clip-asymmetry",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    needs=(LOW, HIGH, ENTROPY),
    when=("ppo_clip",),
    min_points=20,
    implies=("token-entropy-collapse", "entropy-growing"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The ratio is clipped on one side only, and the entropy goes where that drives it.

    What it means:
        One side of the clip binds at least five times as often as the other, while the entropy moves with it and the
        reward does not rise.

    Why it matters:
        The upper clip stops unlikely tokens from becoming likely, so entropy falls; with the upper side wide open it
        runs up until the text falls apart.

    Usual causes:
        The same clip range on both sides; a raised upper range on top of a high temperature or an entropy bonus.

    What to try:
        Entropy falling: raise the upper range (0.28 with 0.2 below). Entropy rising: lower it again.

    When it is harmless:
        While the reward rises.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.1 (clip-higher).
    """
    low, high, entropy = view.get(LOW), view.get(HIGH), view.get(ENTROPY)
    assert low is not None
    assert high is not None
    assert entropy is not None
    n = params.points
    start = opening(entropy.value)
    if (
        min(len(low), len(high), len(entropy)) < 2 * n
        or start <= 0
        or any(rises(view.get(m)) for m in (*TRAIN, *TRUTH))
    ):
        return None
    below, above = median(low.value[-n:]), median(high.value[-n:])
    upper = above >= params.factor * below
    strong, weak = (above, below) if upper else (below, above)
    least = params.least_control if view.clock == "env_steps" else params.least
    if strong < least or strong < params.factor * weak:
        return None
    now = median(entropy.value[-n:]) / start
    drift = linear_trend(entropy.step, entropy.value).z
    if (upper and (now > 1 / params.entropy_factor or drift > -4)) or (
        not upper and (now < params.entropy_factor or drift < 4)
    ):
        return None
    side = "upper" if upper else "lower"
    return Detection(
        message=f"the {side} clip binds {strong:.2%} against {weak:.2%}; entropy is {now:.2g} times its opening",
        onset=view.onset(float(entropy.step[0]), float(entropy.step[len(entropy) // 2])),
        metric=HIGH if upper else LOW,
        evidence={"upper_frac": above, "lower_frac": below, "entropy_over_opening": now},
    )
