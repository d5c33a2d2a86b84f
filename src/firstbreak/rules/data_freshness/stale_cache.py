"""The rule `stale-cache`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `stale-cache`: engineering defaults, except where a source is named."""

    least_nats: float = 0.03
    """Height of the gap before it drops; precision alone gives 0.01 to 0.02 nats (Yao et al. 2025)."""
    drop: float = 0.5
    """Share of the gap that vanishes from one row to the next. Engineering default."""
    climb: int = 3
    """Least rows of climbing before a drop. Engineering default."""
    teeth: int = 3
    """Drops of that kind. Engineering default."""


GRPO = synth.like("GRPO")

GAP = "async/logprob_mismatch"


def saw(low: float, high: float, teeth: int) -> synth.Shape:
    """A line from `low` to `high`, `teeth` times over."""
    return lambda t, rng: low + (high - low) * np.mod(t * teeth, 1.0)


CASES = (
    fires("grows until the engine restarts", lambda: GRPO({GAP: saw(0.012, 0.12, 6)})),
    healthy("precision noise", lambda: GRPO({GAP: synth.flat(0.015, 0.1)})),
    near_miss("grows for good", lambda: GRPO({GAP: synth.ramp(0.012, 0.2)})),
    near_miss("single bad batches", lambda: GRPO({GAP: synth.spikes(0.015, 0.2, at=(0.2, 0.4, 0.6, 0.8))})),
)


@rule(
    "DAT013",
    "stale-cache",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    needs=(GAP,),
    when=("samplers_apart",),
    min_points=20,
    implies=("logprob-mismatch", "behaviour-weight-off-one", "behaviour-ess-low"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The log-prob gap climbs step by step and drops at once, again and again.

    What it means:
        Something in the inference engine grows old and is thrown away at intervals: cached prefixes or encoder
        outputs that were computed with earlier weights.

    Why it matters:
        Fresh prompts are fine, reused ones are answered by a mixture of policies; the average hides it.

    Usual causes:
        Prefix cache kept over weight updates; an encoder cache of images; caches cleared before the update is finished.

    What to try:
        Clear the caches after every update, or switch prefix caching off for some steps: the gap must stay low.

    When it is harmless:
        When the engine is meant to lag for a fixed number of steps, and the lag is logged.

    References:
        NVIDIA-NeMo/RL issue 4018; huggingface/trl issue 7198 (2026).
    """
    gap = view.get(GAP)
    assert gap is not None
    size = np.abs(gap.value)
    falls_at = [
        i
        for i in range(params.climb + 1, len(gap))
        if size[i - 1] >= params.least_nats
        and size[i] <= (1 - params.drop) * size[i - 1]
        and bool((np.diff(size[i - 1 - params.climb : i]) > 0).all())
    ]
    if len(falls_at) < params.teeth:
        return None
    tops = float(np.median(size[[i - 1 for i in falls_at]]))
    return Detection(
        message=f"log-prob gap climbed to {tops:.3g} nats and dropped at once {len(falls_at)} times",
        onset=view.onset(float(gap.step[0]), float(gap.step[falls_at[0]])),
        metric=GAP,
        evidence={"top_nats": tops, "drops": len(falls_at)},
    )
