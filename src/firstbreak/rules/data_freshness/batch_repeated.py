"""The rule `batch-repeated`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `batch-repeated`: engineering defaults, except where a source is named."""

    some: float = 0.01
    """Share of the batch that was trained on in an earlier update; 0 by definition on-policy."""
    much: float = 0.25
    """Share at which the buffer was clearly not cleared."""


PPO = synth.like("PPO")
SAC = synth.like("SAC")

CASES = (
    fires("buffer not cleared", lambda: PPO({"data/repeat_fraction": synth.constant(0.5)})),
    healthy("fresh batches", lambda: PPO({"data/repeat_fraction": synth.constant(0.0)})),
    near_miss("replay repeats by design", lambda: SAC({"data/repeat_fraction": synth.constant(0.9)})),
)


@rule(
    "DAT009",
    "batch-repeated",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=("data/repeat_fraction",),
    when=("on_policy",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("ratio-off-at-first-minibatch", "clip-fraction-high", "kl-overshoot"),
)
def detect(view: RunView, params: Params) -> Answer:
    """An on-policy learner trains again on data of an earlier update.

    What it means:
        Part of the batch was already used in an earlier update, so its behaviour policy is not the current one.

    Why it matters:
        The importance ratio is off from the first minibatch, and the same luck is learned twice.

    Usual causes:
        The rollout buffer is not cleared; the iterator restarts; the same batch is sent to several learners.

    What to try:
        Clear the buffer after each update; hash the batches to prove it.

    When it is harmless:
        Several epochs within one update are meant and not counted here.

    References:
        Schulman et al. 2017, arXiv 1707.06347, algorithm 1.
    """
    repeat = view.get("data/repeat_fraction")
    assert repeat is not None
    over = repeat.value > params.some
    onset = persistent_onset(repeat.step, over, 1)
    if onset is None:
        return None
    return Detection(
        message=f"Up to {repeat.max:.0%} of an on-policy batch was trained on before",
        onset=view.onset(*onset),
        metric=repeat.metric,
        evidence={"repeat_frac": repeat.max, "at": repeat.max_at},
        severity=None if repeat.max >= params.much else Severity.WARNING,
    )
