"""The rule `reference-weights-change`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

CHANGE = "policy/ref_change_frac"
GRPO = synth.like("GRPO", config={"kl_coef": 0.04})


@dataclass(frozen=True)
class Params:
    """Thresholds of `reference-weights-change`; engineering defaults where no source is named."""

    frac: float = 1e-5
    """Change over the norm of the reference's weights: 0 for a fixed one, as the same numbers are compared twice."""


CASES = (
    fires("replaced every so often", lambda: GRPO({CHANGE: synth.spikes(0.0, 0.02, at=(0.3, 0.5, 0.7), noise=0.0)})),
    fires("another model, once", lambda: GRPO({CHANGE: synth.spikes(0.0, 1.2, at=(0.4,), noise=0.0)})),
    healthy("fixed", lambda: GRPO({CHANGE: synth.constant(0.0)})),
    near_miss(
        "meant to follow",
        lambda: synth.like("GRPO", config={"sync_ref_model": True})(
            {CHANGE: synth.spikes(0.0, 0.02, at=(0.3, 0.6), noise=0.0)}
        ),
    ),
)


@rule(
    "POL067",
    "reference-weights-change",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(CHANGE,),
    when=("reference",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reference-moves",
        "kl-ref-nonzero-at-start",
        "kl-ref-runaway",
        "kl-term-reversed",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The weights of the reference model changed while training.

    What it means:
        A fixed sample of the reference's weights is not what it was at the row before, and no setting says that
        it should follow.

    Why it matters:
        A reference that moves anchors nothing, or anchors to another model; the curve of the KL then says
        little.

    Usual causes:
        A reference that shares tensors with the policy; a sync in the wrong direction; a checkpoint loaded into
        both; adapters merged into the base.

    What to try:
        Hash the reference's weights at the start and at every save.

    When it is harmless:
        Where the reference follows on purpose: say so in the settings (`sync_ref_model`).

    References:
        Gorbatovski et al. 2024, arXiv 2404.09656 (a reference that follows by design).
    """
    change = view.get(CHANGE)
    assert change is not None
    if view.config("sync_ref_model") is True or view.number("ref_reset_interval"):
        return None
    moved = change.value > params.frac
    onset = persistent_onset(change.step, moved, 1)
    if onset is None:
        return None
    return Detection(
        message=f"the reference changed by {change.value[moved].max():.2g} of their norm, {moved.sum()} times",
        onset=view.onset(*onset),
        metric=CHANGE,
        evidence={"change_frac": float(change.value[moved].max()), "times": int(moved.sum())},
    )
