"""The check `reward-is-answer-length`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....stats import rank_correlation
from ...judgement.gate import needs_rewards
from ...judgement.groups import Floats, dense, mean_within
from ...judgement.marks import characters
from ...judgement.paid import column, independent
from ...table import Table

LEAST = 64
"""Samples needed. Engineering default: the 95 % interval of a rank correlation of 0.9 then reaches down to 0.83."""
LEAST_LENGTHS = 8
"""Different lengths needed: two or three are two or three answers. Engineering default."""
SAME = 0.9
"""Rank correlation from which hardly anything but length is paid: it then tells four fifths of the reward's variance.
Right or wrong alone, as 1 and 0, cannot come above 0.87 by definition of tied ranks."""
SOME = 0.15
"""How much weaker people's correlation must be to speak against it. Engineering default, as in `reward-buys-length`."""


@check(
    "AUD045",
    "reward-is-answer-length",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Score the same answer with filler added: the reward must not rise.",
)
def look(table: Table) -> Answer:
    """Over all prompts, the longer answer earns more, almost without exception.

    What is measured:
        Spearman's correlation of reward and length of all samples, each taken against the mean of its step, so that
        what both gain in the course of training does not count.

    Why it hurts:
        The policy learns to be long. Whether answers are right hardly shows in such a reward.

    Usual causes:
        A reward summed over tokens; a verifier that counts steps, words or keywords; a reward model with a length
        preference.

    What to try:
        Several answers to each prompt: `reward-buys-length` then asks the same within prompts, where it plays no part
        how much a question needs.

    When it is harmless:
        In tasks where every further token is worth something, as in copying toys. Where people's scores or the task's
        success go with length as clearly there is no finding.

    References:
        Singhal et al. 2023, "A long way to go: investigating length correlations in RLHF", arXiv 2310.03716.
    """
    skip = needs_rewards(table, LEAST)
    if skip is not None:
        return skip
    length, reward = characters(table), column(table, "reward")
    known = np.isfinite(length) & np.isfinite(reward)
    if np.unique(length[known]).size < LEAST_LENGTHS:
        return Skip(f"the answers have fewer than {LEAST_LENGTHS} lengths", ("texts of the responses",))
    paid = _correlation(table, length, reward)
    judged = _correlation(table, length, independent(table))
    if paid < SAME or judged >= paid - SOME:
        return None
    return Symptom(
        f"the reward is the length of the answer: rank correlation {paid:.2f} over {int(known.sum())} samples",
        "text/characters",
        {"rank_correlation": paid, "samples": int(known.sum())},
    )


def _correlation(table: Table, length: Floats, scores: Floats) -> float:
    """Return the rank correlation of the two [N] beyond what their steps explain; 0 where too few are known."""
    known = np.isfinite(length) & np.isfinite(scores)
    if int(known.sum()) < LEAST:
        return 0.0
    step = column(table, "step")[known]
    index = dense(np.where(np.isfinite(step), step, -1).astype(np.int64).astype(np.uint64))
    size, score = length[known], scores[known]
    return rank_correlation(size - mean_within(size, index)[index], score - mean_within(score, index)[index])
