"""The rule `values-turned-round`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal.reward_steps_down import Params as Calm
from firstbreak.rules.reward_signal.reward_steps_down import calm
from firstbreak.stats import median
from firstbreak.stats.change import largest_of, least_of
from firstbreak.view import RunView

VALUES, LENGTH, ENTROPY = "critic/value_corr", "seq/len_mean", ("policy/entropy", "policy/logprob_mean")


@dataclass(frozen=True)
class Params:
    """Thresholds of `values-turned-round`. In the fault benchmark (corpus of 2026-11-26: 19 healthy runs of language
    models with a critic, 221 of control) no healthy run has three such rows; two come to two."""

    before: int = 8
    """Rows in which values went with returns: the shortest stretch with a stated error."""
    agreed: float = 0.1
    """The least correlation in them: a critic of language models rarely explains much of one batch."""
    against: float = 0.2
    """How far below 0 it is from then on. Of 64 responses a correlation has an error of 0.125."""
    lasts: int = 3
    """Rows on end for which it lies there: by chance, where nothing is left to explain, once in 6,000 places. A critic
    learns the new rewards within some ten."""


RLHF = synth.like("RLHF-PPO")
AGREES = synth.clipped(synth.flat(0.45, 0.2), 0.15, 1)
TURNED = synth.clipped(synth.after(0.6, synth.flat(-0.4, 0.2), AGREES), -1, 1)
CASES = (
    fires("the sign of the reward turns", lambda: RLHF({VALUES: TURNED})),
    healthy("values go with returns", lambda: RLHF({VALUES: AGREES})),
    near_miss(
        "the critic is lost, and explains nothing",
        lambda: RLHF({VALUES: synth.clipped(synth.after(0.6, synth.flat(-0.02, 0.05), AGREES), -1, 1)}),
    ),
    near_miss("two odd rows", lambda: RLHF({VALUES: synth.clipped(synth.spikes(0.45, -0.4, (0.597, 0.606)), -1, 1)})),
    near_miss(
        "a critic that never agreed with the returns",
        lambda: RLHF({VALUES: synth.clipped(synth.flat(0.0, 0.5), -1, 1)}),
    ),
    near_miss(
        "the policy leapt in that row, and answers otherwise",
        lambda: RLHF({VALUES: TURNED, LENGTH: synth.jump(150, 40, 0.6)}),
    ),
)


@rule(
    "RWD101",
    "values-turned-round",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(VALUES,),
    when=("language", "value_function"),
    min_points=12,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "explained-variance-collapse",
        "value-loss-explosion",
        "critic-not-learning",
        "pass-at-k-falls",
        "heldout-regression",
        "empty-responses",
        "rm-overoptimisation",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one update to the next the critic expects most where least is paid.

    What it means:
        The critic's values went with the returns, row after row. Now they go against them, for several rows on end,
        while the length and entropy of the responses stayed. A critic that forgets expects the same everywhere; only
        rewards of the other sign make what it learned the opposite of the truth.

    Why it matters:
        The policy is led away from what it had learned to do, and the mean reward soon rises again.

    Usual causes:
        A reward model whose output is negated, or read from the other label; a cost that is taken for a reward; a pair
        of answers that changed places.

    What to try:
        Score responses saved before that update with the scorer of now: good ones must come out above bad ones.

    When it is harmless:
        Where you turned the aim round on purpose.

    References:
        None; the sign of a correlation is compared with what it was.
    """
    points = view.get(VALUES)
    assert points is not None
    value = points.value
    places = value.size - params.before - params.lasts + 1
    if places <= 0:
        return None
    least = least_of(value, params.before)[:places]
    turned = (least >= params.agreed) & (largest_of(value, params.lasts)[params.before :] <= -params.against)
    for place in np.flatnonzero(turned) + params.before:
        at = float(points.step[place])
        if not all(
            calm(shown.step, shown.value, at, Calm())
            for shown in (view.get(LENGTH), view.get(*ENTROPY))
            if shown is not None
        ):
            continue
        before, now = median(value[max(0, place - 16) : place]), median(value[place : place + params.lasts])
        return Detection(
            message=f"values and returns had a correlation of {before:.2f}, and have {now:.2f} from one update on",
            onset=view.onset(float(points.step[place - 1]), at),
            metric=VALUES,
            evidence={"before": before, "after": now},
        )
    return None
