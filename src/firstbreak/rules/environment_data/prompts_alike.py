"""The rule `prompts-alike`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

DISTINCT = "data/distinct_prompt_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompts-alike`; engineering defaults."""

    frac: float = 0.5
    """Different prompts over groups. Batches drawn from a data set of a few times their size stay above 0.8."""
    fell: float = 0.7
    """Share of what it was before, from which on it fell. Where it is as ever, the data set may hold few prompts."""
    few: float = 0.25
    """Different prompts over groups that are an error whatever it was before: few groups could be told apart. Between
    this and `frac`, and as ever, it is a note: more groups than a small data set has prompts."""
    rows: int = 6
    """Rows in a row that must show it: eight groups drawn from ten prompts are half alike in one batch of ten, three
    times on end somewhere in a run, six times hardly ever."""


GRPO = synth.like("GRPO")


def three_alike(t: Floats, rng: np.random.Generator) -> Floats:
    """Distinct prompts [n] of eight groups, with three poor batches on end."""
    return np.where(np.isin(np.arange(t.size), (11, 12, 13)), 0.5, 0.625 + 0.125 * rng.integers(0, 3, t.size))


CASES = (
    fires("the question is dropped half-way", lambda: GRPO({DISTINCT: synth.jump(1.0, 0.125, at=0.5)})),
    fires("one prompt from the start", lambda: GRPO({DISTINCT: synth.constant(0.125)})),
    healthy("every group asks something else", lambda: GRPO({DISTINCT: synth.constant(1.0)})),
    fires("a note: more groups than the data set has prompts", lambda: GRPO({DISTINCT: synth.constant(0.5)})),
    near_miss("a small data set", lambda: GRPO({DISTINCT: synth.clipped(synth.flat(0.75, 0.05), 0, 1)})),
    near_miss("three batches of a tiny data set", lambda: GRPO({DISTINCT: three_alike})),
    near_miss("one batch of repeats", lambda: GRPO({DISTINCT: synth.spikes(1.0, -0.7, at=(0.5,))})),
)


@rule(
    "ENV031",
    "prompts-alike",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(DISTINCT,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("prompts-shortened", "zero-std-groups", "reward-flat", "reward-redefined", "token-entropy-collapse",
             "reward-std-collapse"),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """The policy is given the same prompt in most groups of a batch.

    What it means:
        As token ids, after template and truncation, prompts of different groups are equal.

    Why it matters:
        The policy cannot know which question it answers. It learns the answer that is most often right, whatever was
        asked, and loses the rest.

    Usual causes:
        A template with a wrong field name, which leaves the question out; truncation from the side on which the
        question stands; a loader that repeats one row; a cache of tokenised prompts with one key.

    What to try:
        Decode the ids that are generated from, for two rows of the data; they must hold the question.

    When it is harmless:
        Training on one or a few examples on purpose (arXiv 2504.20571); more groups in a batch than the data set has
        different prompts, which is a note.

    References:
        Wang et al. 2025, arXiv 2504.20571 (one example, on purpose).
    """
    points = view.get(DISTINCT)
    assert points is not None
    onset = persistent_onset(points.step, points.value <= params.frac, params.rows)
    if onset is None:
        return None
    share, before = median(points.value[points.step >= onset[1]]), points.value[points.step < onset[1]]
    fell = before.size > 0 and share <= params.fell * median(before)
    return Detection(
        message=f"of the groups of a batch only {share:.0%} have a prompt of their own",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"distinct_frac": share},
        severity=None if fell or share <= params.few else Severity.INFO,
    )
