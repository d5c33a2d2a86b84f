"""The rule `repetition-rising`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import HELD_OUT, TRAIN, falls, rises
from firstbreak.stats import compare, median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `repetition-rising`: engineering defaults, except where a source is named."""

    floor: float = 0.1
    """Share of repetitive responses worth a word. Engineering default."""
    factor: float = 3.0
    """Newest share over the opening."""
    z: float = 4.0
    """z of the last quarter against the first."""
    rows: int = 8
    """Latest rows that say how many responses are cut off."""
    most: float = 0.5
    """Share at which the run is lost."""
    half_way: float = 0.3
    """Share under which it is a note while the score on held-out problems rises, or while nothing shows that loops
    cost anything. Engineering default."""
    cut: float = 0.1
    """Share of responses cut off at the length cap from which loops run into it. Engineering default."""


CUT = "seq/truncated_fraction"
GRPO = synth.like("GRPO")

CASES = (
    fires("loops take over", lambda: GRPO({"seq/repetition_fraction": synth.clipped(synth.ramp(0.01, 0.6), 0, 1)})),
    healthy("few loops", lambda: GRPO({"seq/repetition_fraction": synth.flat(0.01, 0.2)})),
    near_miss("repetitive from the start, steady", lambda: GRPO({"seq/repetition_fraction": synth.flat(0.15, 0.05)})),
)


@rule(
    "EXP015",
    "repetition-rising",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("seq/repetition_fraction",),
    when=("language",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("truncation-growing", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """More and more responses repeat themselves.

    What it means:
        The share of repetitive responses has at least tripled and passed a tenth.

    Why it matters:
        Loops run to the length cap: they cost compute, get truncated and carry no reasoning.

    Usual causes:
        Entropy used up; no penalty at the length cap; numerics that favour frequent tokens.

    What to try:
        Read the flagged responses; check truncation and the tail entropy; mask or penalise over-long responses.

    When it is harmless:
        Tasks whose answers repeat by nature. It is a note while few responses do and no score falls, and up to half of
        them while the score on held-out problems rises, in both cases with hardly any response cut off.

    References:
        Holtzman et al. 2020, arXiv 1904.09751 (degeneration).
    """
    share = view.get("seq/repetition_fraction")
    assert share is not None
    quarter = max(8, len(share) // 4)
    change = compare(share.value[:quarter], share.value[-quarter:])
    if change.recent < max(params.floor, params.factor * max(change.reference, 0.0)) or change.z < params.z:
        return None
    over = persistent_onset(share.step, share.value >= params.floor, 3)
    return Detection(
        message=f"{change.recent:.0%} of responses repeat themselves, {change.reference:.1%} at the start",
        onset=view.onset(*(over or (float(share.step[0]), float(share.step[-1])))),
        metric=share.metric,
        evidence={"recent_frac": change.recent, "opening_frac": change.reference, "z": change.z},
        severity=severity_of(view, change.recent, params),
    )


def severity_of(view: RunView, recent: float, params: Params) -> Severity:
    """How bad it is that a share of `recent` repeats itself: loops cost ability, or run into the length cap.

    Without a score, or without the share that is cut off, nobody can say that they cost nothing.
    """
    learns = any(rises(view.get(name)) for name in HELD_OUT)
    scores, cut = [p for name in (*HELD_OUT, *TRAIN) if (p := view.get(name)) is not None], view.get(CUT)
    free = bool(scores) and not any(falls(p) for p in scores)
    free = free and cut is not None and median(cut.value[-params.rows :]) < params.cut
    if recent < params.half_way:
        return Severity.INFO if learns or free else Severity.WARNING
    if recent >= params.most:
        return Severity.WARNING if learns and free else Severity.ERROR
    return Severity.INFO if learns and free else Severity.WARNING
