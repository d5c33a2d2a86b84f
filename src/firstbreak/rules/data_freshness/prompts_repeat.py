"""The rule `prompts-repeat`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

AGAIN, EXPECTED = "data/prompt_repeat_frac", "data/prompt_repeat_expected_frac"
GRPO = synth.like("GRPO")


def both(again: synth.Shape, expected: float) -> dict[str, synth.Shape]:
    """What the callback for TRL adds."""
    return {AGAIN: again, EXPECTED: synth.constant(expected)}


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompts-repeat`; engineering defaults where no source is named."""

    excess: float = 0.5
    """Share of the prompts of the batch before, above that of a batch drawn at random from the data set."""
    rows: int = 4
    """Batches on end that must show it: at the turn of an epoch one may repeat many."""
    whole: float = 0.99
    """Share at which the loader hands out one and the same prompts."""


CASES = (
    fires("the same prompts at every update", lambda: GRPO(both(synth.constant(1.0), 0.02))),
    fires("from half-way on", lambda: GRPO(both(synth.jump(0.0, 1.0, 0.5, 0.0), 0.1))),
    healthy("new ones", lambda: GRPO(both(synth.constant(0.0), 0.02))),
    near_miss(
        "an epoch of little more than a batch", lambda: GRPO(both(synth.clipped(synth.flat(0.7, 0.1), 0, 1), 0.7))
    ),
    near_miss("the data set is one batch", lambda: GRPO(both(synth.constant(1.0), 1.0))),
    near_miss("at the turn of an epoch", lambda: GRPO(both(synth.spikes(0.0, 1.0, at=(0.3, 0.6), noise=0.0), 0.2))),
)


@rule(
    "DAT031",
    "prompts-repeat",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(
        AGAIN,
        EXPECTED,
    ),
    when=("language",),
    min_points=4,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "zero-std-groups",
        "reward-saturated-from-start",
        "token-entropy-collapse",
        "advantage-collapse",
        "difficulty-bias",
        "reward-std-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Update after update is given the prompts of the one before.

    What it means:
        Successive batches share far more prompts than batches drawn from this data set would.

    Why it matters:
        A few prompts are learned by heart: their reward rises while nothing else is learned, and their groups
        fall silent.

    Usual causes:
        An iterator that is made anew at every update; a sampler with a fixed seed; a queue that is not emptied;
        one shard only.

    What to try:
        Log a hash of the prompts of each batch, and the number of different prompts so far.

    When it is harmless:
        A data set of about a batch, which is counted in; a method that repeats prompts on purpose.

    References:
        None; the rule compares with the size of the data set.
    """
    again, expected = view.get(AGAIN), view.get(EXPECTED)
    assert again is not None
    assert expected is not None
    usual = np.interp(again.step, expected.step, expected.value)
    over = again.value - usual >= params.excess
    onset = persistent_onset(again.step, over, params.rows)
    if onset is None:
        return None
    share = median(again.value[over])
    return Detection(
        message=f"{share:.0%} of the prompts are those of the batch before; at random {median(usual):.0%} were",
        onset=view.onset(*onset),
        metric=AGAIN,
        evidence={"repeat_frac": share, "expected_frac": median(usual)},
        severity=Severity.ERROR if share >= params.whole else None,
    )
