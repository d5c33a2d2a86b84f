"""The rule `value-clip-binding`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `value-clip-binding`; engineering defaults where no source is named."""

    fraction: float = 0.5
    """Share of samples on which value clipping binds: from half on, the clip and not the error sets the step.
    Engineering default."""
    fitted: float = 0.5
    """Explained variance above which the critic fits all the same."""
    updates: int = 10
    """Consecutive updates."""


RLHF = synth.like("RLHF-PPO")
BOUND = {"critic/clip_fraction": synth.clipped(synth.flat(0.8, 0.05), 0, 1)}

CASES = (
    fires(
        "clip binds and the critic does not fit", lambda: RLHF({**BOUND, "critic/explained_variance": synth.flat(0)})
    ),
    healthy("clip seldom binds", lambda: RLHF({"critic/clip_fraction": synth.clipped(synth.flat(0.02), 0, 1)})),
    near_miss("binds, yet fits well", lambda: RLHF({**BOUND, "critic/explained_variance": synth.ramp(0.6, 0.9, 0.02)})),
    near_miss(
        "binds in the first updates only",
        lambda: RLHF({"critic/clip_fraction": synth.clipped(synth.jump(0.9, 0.05, at=0.05), 0, 1)}),
    ),
)


@rule(
    "CRT013",
    "value-clip-binding",
    link=Link.CRITIC,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=("critic/clip_fraction",),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=("explained-variance-negative", "critic-not-learning", "value-scale-mismatch"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Value clipping stops the critic on most samples, and the critic does not fit.

    What it means:
        New values may move only a fixed distance from the old ones; on most samples that distance is used up.

    Why it matters:
        The distance does not know the scale of the returns. Where returns are in the hundreds and the clip is 0.2 the
        critic needs thousands of updates to arrive.

    Usual causes:
        Clip range copied from the policy's ratio; returns not normalised; stale old values.

    What to try:
        Switch value clipping off for some updates, or scale its range with the spread of the returns.

    When it is harmless:
        When explained variance is good all the same; in the first updates.

    References:
        Andrychowicz et al. 2020, arXiv 2006.05990 (value clipping). Engstrom et al. 2020, arXiv 2005.12729.
    """
    clip = view.get("critic/clip_fraction")
    assert clip is not None
    over = persistent_onset(clip.step, clip.value > params.fraction, params.updates)
    if over is None:
        return None
    ev = view.get("critic/explained_variance")
    known = ev is not None and len(ev) > 0
    if ev is not None and known and median(ev.value[-params.updates :]) > params.fitted:
        return None
    recent = median(clip.value[-params.updates :])
    return Detection(
        message=f"value clipping binds on {recent:.0%} of the samples for {params.updates} or more updates",
        onset=view.onset(*over),
        metric=clip.metric,
        evidence={"value_clip_frac": recent},
        severity=None if known else Severity.INFO,
    )
