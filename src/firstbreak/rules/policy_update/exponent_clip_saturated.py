"""The rule `exponent-clip-saturated`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `exponent-clip-saturated`; engineering defaults where no source is named."""

    fraction: float = 0.5
    """Share of samples with a clipped exponent: from half on, the sign of the advantage decides, not its size.
    Engineering default."""
    updates: int = 10
    """Consecutive updates beyond."""


MM = synth.like("MM-RKHS")
CLIP = "policy/exponent_clip_fraction"

CASES = (
    fires("step size grows without bound", lambda: MM({CLIP: synth.clipped(synth.ramp(0.05, 1.0), 0, 1)})),
    healthy("seldom clipped", lambda: MM({})),
    near_miss("a third", lambda: MM({CLIP: synth.clipped(synth.flat(0.33, 0.1), 0, 1)})),
    near_miss("single updates", lambda: MM({CLIP: synth.spikes(0.05, 0.9, at=(0.2, 0.5, 0.8))})),
)


@rule(
    "POL019",
    "exponent-clip-saturated",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(CLIP,),
    when=("mmd",),
    params=Params(),
    cases=CASES,
    implies=("entropy-collapse", "return-oscillates"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Most exponents of the multiplicative update are clipped: only the sign of the advantage is left.

    What it means:
        The step size eta times the advantage exceeds the exponent clip for half of the samples or more.

    Why it matters:
        Small and large advantages then move the policy alike; noise is amplified to a full step.

    Usual causes:
        eta growing with the update number (or its square); advantages not normalised; outliers in the advantage.

    What to try:
        Cap eta, or normalise advantages before the exponent; the clipped share should stay below a tenth.

    When it is harmless:
        In single updates after a reward jump.

    References:
        Gupta and Mahajan 2026, arXiv 2603.17875, section 6 (eta schedule, exponent clip).
    """
    clip = view.get(CLIP)
    assert clip is not None
    over = persistent_onset(clip.step, clip.value > params.fraction, params.updates)
    if over is None:
        return None
    now = median(clip.value[clip.step >= over[1]])
    return Detection(
        message=f"exponent is clipped on {now:.0%} of the samples",
        onset=view.onset(*over),
        metric=clip.metric,
        evidence={"exponent_clip_frac": now},
    )
