"""The rule `ratio-beyond-clip`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.policy_update.ratio_off_one import FAR, went_far
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `ratio-beyond-clip`."""

    clip_range: float = 0.2
    """Clip range taken where the run states none (Schulman et al. 2017, arXiv 1707.06347, section 3)."""
    factor: float = 2.0
    """How many clip ranges the mean may lie from 1. A clipped objective has no gradient that moves a sample beyond one
    range, and samples with positive and negative advantage pull the mean to both sides. Engineering default."""


GRPO = synth.like("GRPO")
RATIO = "policy/ratio_mean"

CASES = (
    fires("half of the mass is missing", lambda: GRPO({RATIO: synth.flat(0.5, 0.02)})),
    fires("twice too much", lambda: GRPO({RATIO: synth.flat(2.0, 0.02)})),
    healthy("around 1", lambda: GRPO({RATIO: synth.flat(1.0, 0.003)})),
    near_miss("inside the clip range", lambda: GRPO({RATIO: synth.flat(0.85, 0.01)})),
    near_miss(
        "updates that went far from where it was 1",
        lambda: synth.like("PPO")({**FAR, RATIO: synth.spikes(0.9, 1.6, at=(0.3, 0.5, 0.8), noise=0.02)}),
    ),
    near_miss("one odd update", lambda: GRPO({RATIO: synth.spikes(1.0, 1.9, at=(0.5,), noise=0.003)})),
)


@rule(
    "NUM016",
    "ratio-beyond-clip",
    link=Link.NUMERICS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(RATIO,),
    when=("ppo_clip",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("ratio-off-one", "clip-fraction-high"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The mean importance ratio is further from 1 than a clipped update can move it.

    What it means:
        Under the policy that sampled, the expected ratio is exactly 1 for every other policy with the same support.
        A mean far beyond the clip range therefore says that the two log-probs are not of the distribution that
        sampled: mass is missing or counted twice.

    Why it matters:
        Every advantage is weighted with a number that has nothing to do with the update.

    Usual causes:
        Sampling with temperature, top-p, top-k or min-p that the trainer's log-probs do not contain; another
        normalisation in the inference engine; old log-probs of other tokens; a mask that is not applied.

    What to try:
        Score one sampled batch in the trainer at temperature 1 without truncation: the ratio must be 1.

    When it is harmless:
        Where the logged number is a sequence ratio: it multiplies the gaps of all tokens and leaves 1 easily. Updates
        of more than 0.1 nats that begin at a ratio of 1 are left out: the log-probs are right, and the mean of so few
        actions scatters.

    References:
        Owen 2013, "Monte Carlo theory, methods and examples", chapter 9 (importance weights have mean 1).
    """
    ratio = view.get(RATIO)
    assert ratio is not None
    if len(ratio) == 0:
        return None
    room = params.factor * (view.number("clip_range") or params.clip_range)
    away = np.where(went_far(view, ratio.step), 0.0, np.abs(ratio.value - 1))
    off = away > room
    if np.count_nonzero(off) < min(3, max(1, len(ratio) // 3)):
        return None
    first = int(np.argmax(off))
    worst = float(ratio.value[int(np.argmax(away))])
    return Detection(
        message=f"mean importance ratio {worst:.3g}; clipped updates stay within {room:.2g} of 1",
        onset=view.onset(float(ratio.step[max(first - 1, 0)]), float(ratio.step[first])),
        metric=RATIO,
        evidence={"ratio_mean": worst, "room": room, "rows_off_frac": float(off.mean())},
    )
