"""The rule `length-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, TRUTH, began, falls, moved, rises
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `length-collapse`. Engineering defaults where no source is named."""

    ratio: float = 0.3
    """Length over that of the opening. Engineering default."""
    z: float = 4.0
    """Standard errors of the fall, inflated for autocorrelation."""
    lasting: float = 0.33
    """Share of the rows, up to now, during which the length must have been that small."""


GRPO = synth.like("GRPO")
SHORT = {"seq/len_mean": synth.clipped(synth.ramp(220, 20, 0.02, until=0.4), 1, 400)}
CASES = (
    fires(
        "answers shrink to nothing, accuracy falls",
        lambda: GRPO(SHORT | {"reward/true_objective": synth.clipped(synth.ramp(0.6, 0.1, 0.05), 0, 1)}),
    ),
    fires("answers shrink, no other score: a hint", lambda: GRPO(SHORT)),
    healthy("length steady", lambda: GRPO({})),
    near_miss(
        "learns to answer briefly and right",
        lambda: GRPO(SHORT | {"reward/true_objective": synth.ramp(0.05, 0.9, 0.02)}),
    ),
    near_miss("halves", lambda: GRPO({"seq/len_mean": synth.ramp(220, 110, 0.02)})),
)


@rule(
    "RWD008",
    "length-collapse",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=("seq/len_mean",),
    any_of=(("reward/train_mean", "reward/rollout_mean"),),
    when=("language",),
    min_points=30,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("token-entropy-collapse", "heldout-regression", "response-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses have shrunk to a fraction of their length while the reward went up.

    What it means:
        The mean length is below a third of the opening's and stays there; the reward rose meanwhile.

    Why it matters:
        Either the task needs few words, or the reward can be had without doing the task: an empty reasoning block, a
        bare number, a refusal.

    Usual causes:
        Format and shaping rewards that short answers meet; a length penalty that is too strong; a judge that accepts
        trivial strings; no anchor to the reference model.

    What to try:
        Read the shortest high-reward responses; score null answers with the verifier.

    When it is harmless:
        A model that learns to answer briefly and correctly; the task's own score then rises.

    References:
        Zhao et al. 2025, "One token to fool LLM-as-a-judge", arXiv 2507.08794.
    """
    length, reward = view.get("seq/len_mean"), view.get("reward/train_mean", "reward/rollout_mean")
    assert length is not None
    assert reward is not None
    if min(len(length), len(reward)) < 2 * LEAST:
        return None
    change = moved(length)
    small = length.value <= params.ratio * change.reference
    if change.z > -params.z or change.recent > params.ratio * change.reference or small.mean() < params.lasting:
        return None
    if not rises(reward, 3.0):
        return None
    measured = [p for p in (view.get(n) for n in TRUTH) if p is not None and len(p) >= 4]
    if any(rises(p) for p in measured):
        return None
    fell = any(falls(p) for p in measured)
    over = persistent_onset(length.step, small, 3)
    return Detection(
        message=f"responses shrank from {change.reference:.4g} to {change.recent:.4g} tokens while the reward rose",
        onset=view.onset(*over) if over is not None else began(view, length),
        metric=length.metric,
        evidence={"length_opening_tokens": change.reference, "length_recent_tokens": change.recent, "z": change.z},
        severity=Severity.ERROR if fell else Severity.WARNING if measured else Severity.INFO,
    )
