"""The rule `behaviour-uncorrected`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `behaviour-uncorrected`: engineering defaults, except where a source is named."""

    lag_versions: float = 1.5
    """Mean lag from which plain PPO loses quality (Fu et al. 2025, arXiv 2505.24298, table 3: from 1 on for math)."""
    gap_nats: float = 0.05
    """Gap per token beyond precision."""
    points: int = 5
    """Consecutive newest points."""


LAG, GAP = "async/staleness_mean", "async/logprob_mismatch"
PLAIN = synth.like("GRPO", config={"recompute_logprob": True, "decoupled_loss": False})
OLD = {LAG: synth.flat(3.0, 0.1)}

CASES = (
    fires("old samples, anchor recomputed", lambda: PLAIN(OLD)),
    fires("sampler and trainer differ, anchor recomputed", lambda: PLAIN({GAP: synth.flat(0.09, 0.05)})),
    healthy("fresh samples", lambda: PLAIN({LAG: synth.constant(0.0), GAP: synth.flat(0.012, 0.1)})),
    near_miss(
        "decoupled loss",
        lambda: synth.like("GRPO", config={"recompute_logprob": True, "decoupled_loss": True})(OLD),
    ),
    near_miss(
        "behaviour weight with a cap",
        lambda: synth.like("GRPO", config={"recompute_logprob": True, "behaviour_cap": 2.0})(OLD),
    ),
)


@rule(
    "DAT014",
    "behaviour-uncorrected",
    link=Link.DATA_FRESHNESS,
    component=Component.LOSS,
    any_of=((LAG, GAP),),
    needs_config=("recompute_logprob",),
    when=("language",),
    min_points=5,
    implies=("grad-norm-explosion", "kl-overshoot"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The ratio is anchored at recomputed log-probs, so it cannot see that the samples come from another policy.

    What it means:
        Old log-probs are computed anew by the trainer. The ratio then starts at 1 whatever the sampler did; nothing
        else corrects for the lag or the gap that is logged.

    Why it matters:
        Clip fraction and KL look healthy while every gradient is taken over the wrong distribution.

    Usual causes:
        Recomputation switched on without the decoupled loss (or truncated importance weights) that belongs to it.

    What to try:
        Use the decoupled loss with a cap, or the sampler's own log-probs as the anchor, or train synchronously.

    When it is harmless:
        At lag 0 with matching engines.

    References:
        Hilton et al. 2021, arXiv 2110.00641 (decoupled objective). verl, "Rollout correction" (three policies).
    """
    if view.config("recompute_logprob") is not True or view.config("decoupled_loss") is True:
        return None
    if view.number("behaviour_cap") is not None or view.has("async/behave_ratio_mean"):
        return None
    for name, limit, unit in ((LAG, params.lag_versions, "versions of lag"), (GAP, params.gap_nats, "nats of gap")):
        points = view.get(name)
        if points is None or len(points) < params.points:
            continue
        over = np.abs(points.value) >= limit
        onset = persistent_onset(points.step, over, params.points)
        if onset is None or not bool(over[-params.points :].all()):
            continue
        recent = median(np.abs(points.value[-params.points :]))
        return Detection(
            message=f"{recent:.3g} {unit} are not corrected: old log-probs are recomputed, without a behaviour weight",
            onset=view.onset(*onset),
            metric=name,
            evidence={"recent": recent, "limit": limit},
        )
    return None
