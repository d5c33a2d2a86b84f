"""The rule `scores-not-kept`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

OFF, PAIRS = "reward/rescored_off_frac", "reward/rescored_pairs"


@dataclass(frozen=True)
class Params:
    """Thresholds of `scores-not-kept`. A score is a function of question and response: 0 by definition."""

    rows: int = 8
    """Rows on end that are summed up, at most. Engineering default."""
    least: int = 3
    """Pairs scored otherwise: fewer are a verdict that failed and one that was mended. Engineering default."""
    share: float = 0.05
    """Of the pairs of those rows. Engineering default."""
    chance: float = 1e-6
    """Chance that as many would fall into these rows if scores had been as loose before: a judge that samples has
    always done so."""


GRPO = synth.like("GRPO")
MANY = {PAIRS: synth.constant(12.0)}


def pairs_off(counts: dict[int, int]) -> synth.Shape:
    """Share of twelve pairs that is off, in these rows."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        del rng
        found = np.zeros(t.size)
        for place, count in counts.items():
            found[place] = count / 12
        return found

    return shape


def loose(t: Floats, rng: np.random.Generator) -> Floats:
    """A judge that says otherwise one time in ten, all along."""
    return rng.binomial(12, 0.1, t.size) / 12


CASES = (
    fires(
        "another reward half-way",
        lambda: GRPO(MANY | {OFF: synth.after(0.5, synth.flat(0.8, 0.05), synth.constant(0.0))}),
    ),
    fires(
        "a verifier begins to err",
        lambda: GRPO(MANY | {OFF: synth.after(0.5, synth.constant(1 / 6), synth.constant(0.0))}),
    ),
    healthy("the same score each time", lambda: GRPO(MANY | {OFF: synth.constant(0.0)})),
    near_miss("a judge that has always wavered", lambda: GRPO(MANY | {OFF: loose})),
    near_miss("one verdict fails and is mended", lambda: GRPO(MANY | {OFF: pairs_off({100: 1, 103: 1})})),
    near_miss(
        "hardly anything comes again", lambda: GRPO({PAIRS: synth.constant(0.02), OFF: synth.jump(0.0, 1.0, noise=0.0)})
    ),
)


@rule(
    "RWD115",
    "scores-not-kept",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(OFF, PAIRS),
    min_points=6,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-redefined", "reward-steps-down", "return-collapse", "reward-flat", "zero-std-groups",
        "reward-std-collapse", "proxy-divergence", "reward-is-noise", "scores-scatter-as-answers-narrow",
        "truncation-growing", "token-entropy-collapse", "response-collapse", "length-collapse", "reward-moves-at-once",
        "exploration-moves-at-once", "environment-moves-at-once", "reward-is-length", "smooth-decline",
    ),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """A response to a question earns another score than it earned before.

    What it means:
        The same tokens, after the same row of the data, came again in the course of training, and were paid otherwise;
        for most of the run, such pairs had kept their score.

    Why it matters:
        What is rewarded is not what was rewarded: the policy unlearns what it was taught.

    Usual causes:
        A reward function that changed or reads a state that changed; a verifier that fails now and then and answers
        with a default; another judge behind the same address; scores that are handed to other rows.

    What to try:
        Score one of those responses by hand, in a fresh process, and compare with both scores.

    When it is harmless:
        A reward that is meant to change at one point of training. One that moves at every update is not named.

    References:
        Gao, Schulman and Hilton 2023, arXiv 2210.10760 (the proxy is fixed while it is optimised).
    """
    off, pairs = view.get(OFF), view.get(PAIRS)
    assert off is not None
    assert pairs is not None
    step, at_off, at_pairs = np.intersect1d(off.step, pairs.step, return_indices=True)
    known = pairs.value[at_pairs]
    found = first_break(np.rint(off.value[at_off] * known), known, params)
    if found is None:
        return None
    begin, end, wrong = found
    share = float(wrong / known[begin:end].sum())
    return Detection(
        message=f"{share:.0%} of the responses that came again earn another score than before; until then they kept it",
        onset=view.onset(float(step[max(0, begin - 1)]), float(step[begin])),
        metric=OFF,
        evidence={"share": share, "pairs_off": float(wrong), "pairs_before": float(known[:begin].sum())},
    )


def first_break(off: Floats, known: Floats, params: Params) -> tuple[int, int, float] | None:
    """Return the first stretch of rows with more pairs off than those before allow for, and how many are.

    Args:
        off: Pairs of each row [n] that got another score.
        known: Pairs of each row [n] that were scored before.
        params: Thresholds.
    """
    before, wrong = np.cumsum(known) - known, np.cumsum(off) - off
    for begin in np.flatnonzero(off > 0):
        for end in range(int(begin) + 1, min(int(begin) + params.rows, off.size) + 1):
            own, all_of = float(off[begin:end].sum()), float(known[begin:end].sum())
            if own >= params.least and own >= params.share * all_of:
                # All that were off so far, each in these rows by chance with the rows' share of the pairs.
                part = all_of / max(all_of + float(before[begin]), 1.0)
                if _at_least(own, own + float(wrong[begin]), part) <= params.chance:
                    return int(begin), end, own
    return None


def _at_least(count: float, of: float, chance: float) -> float:
    """Bound the chance of at least `count` of `of` draws, each with `chance` (Hoeffding 1963, equation 2.1)."""
    share = count / of
    if share <= chance:
        return 1.0
    if chance <= 0:
        return 0.0
    rest = 0.0 if share >= 1 else (1 - share) * np.log((1 - share) / (1 - chance))
    return float(np.exp(-of * (share * np.log(share / chance) + rest)))
