"""The rule `behaviour-cap-saturated`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `behaviour-cap-saturated`: engineering defaults, except where a source is named."""

    most: float = 0.05
    """Share of tokens or sequences at the cap. AReaL advises a cap of 5; more than a few percent there means that the
    lag, not the cap, is the problem. Engineering default."""
    points: int = 5
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

CASES = (
    fires("a fifth of the weights capped", lambda: GRPO({"async/behave_clip_fraction": synth.flat(0.2, 0.1)})),
    healthy("hardly any", lambda: GRPO({"async/behave_clip_fraction": synth.clipped(synth.flat(0.003, 0.3), 0, 1)})),
    near_miss("one batch", lambda: GRPO({"async/behave_clip_fraction": synth.spikes(0.003, 0.4, at=(0.5,))})),
)


@rule(
    "DAT003",
    "behaviour-cap-saturated",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("async/behave_clip_fraction", "async/behave_clip_fraction_high"),),
    min_points=5,
    params=Params(),
    cases=CASES,
    implies=("behaviour-weight-off-one",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Many behaviour weights sit at their cap.

    What it means:
        More than 5 % of the weights pi_proximal / pi_behave are capped or masked, batch after batch.

    Why it matters:
        A cap hides how stale the data are and biases the gradient by what it cuts.

    Usual causes:
        Too much lag; a gap between trainer and sampler; a cap far below the recommended value.

    What to try:
        Lower the lag first; then check both sides score the same tokens alike; only then touch the cap.

    When it is harmless:
        With masking on purpose of rare tokens, at a steady low share.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 5.2.
    """
    capped = view.get("async/behave_clip_fraction", "async/behave_clip_fraction_high")
    assert capped is not None
    over = capped.value > params.most
    if len(capped) < params.points or not bool(over[-params.points :].all()):
        return None
    onset = persistent_onset(capped.step, over, params.points)
    assert onset is not None
    recent = median(capped.value[-params.points :])
    return Detection(
        message=f"{recent:.1%} of the behaviour weights sit at their cap (usual: below {params.most:.0%})",
        onset=view.onset(*onset),
        metric=capped.metric,
        evidence={"capped_frac": recent, "limit_frac": params.most},
    )
