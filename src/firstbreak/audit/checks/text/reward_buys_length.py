"""The check `reward-buys-length`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...judgement.gate import needs_rewards
from ...judgement.groups import Floats, dense
from ...judgement.marks import characters
from ...judgement.paid import column, independent, leaning
from ...table import Table

LEAST_GROUPS = 16
SOME = 0.15
"""Lower bound of the mean correlation, and how much weaker people's may be. Engineering default."""
LEAST_LENGTHS = 3
"""Different lengths that the answers to a prompt must have: two may be two answers. Engineering default."""
CLEAR = 0.3
"""Mean correlation from which length decides many rankings: a medium effect of Cohen 1988."""


@check(
    "AUD020",
    "reward-buys-length",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Compare rewards at equal length: subtract what length explains, or limit what it can earn.",
)
def look(table: Table) -> Answer:
    """Within prompts the longer answer earns more.

    What is measured:
        Spearman's correlation of reward and length in each prompt, its mean and 95 % interval, and the same for human
        scores. Differences between prompts do not count: hard questions need more words.

    Why it hurts:
        The policy learns to be long. In published runs 70 to 90 % of the gain in reward was length.

    Usual causes:
        A judge or reward model that likes detail; a bonus per step; a sum over tokens.

    What to try:
        Train against a score of length alone as a control; centre the reward by length.

    When it is harmless:
        When people prefer the longer answer as clearly; then there is no finding.

    References:
        Singhal et al. 2023, arXiv 2310.03716; Dubois et al. 2024, arXiv 2404.04475 (length-controlled judging).
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    length = _told_by_length(table)
    paid = leaning(table, length, column(table, "reward"))
    if paid.groups < LEAST_GROUPS:
        return Skip(
            f"only {paid.groups} prompts vary in reward and in length ({LEAST_LENGTHS} lengths), "
            f"{LEAST_GROUPS} are needed",
            ("more prompts with several answers",),
        )
    people = leaning(table, length, independent(table))
    if paid.low < SOME or paid.mean < CLEAR or (people.groups >= LEAST_GROUPS and people.mean >= paid.mean - SOME):
        return None
    against = people.groups >= LEAST_GROUPS and people.high < 0
    evidence: dict[str, float | int | str | bool] = {
        "rank_correlation": paid.mean,
        "low": paid.low,
        "high": paid.high,
        "prompts": paid.groups,
    }
    if people.groups >= LEAST_GROUPS:
        evidence |= {"human_rank_correlation": people.mean, "human_low": people.low, "human_high": people.high}
    return Symptom(
        f"reward follows length within prompts: rank correlation {paid.mean:.2f}"
        + (f"; people's scores: {people.mean:.2f}" if people.groups >= LEAST_GROUPS else ""),
        "text/characters",
        evidence,
        severity=Severity.ERROR if against else Severity.WARNING,
    )


def _told_by_length(table: Table) -> Floats:
    """Return the length of each answer [N], NaN at prompts whose answers have too few different lengths.

    Where all answers are `Yes` or `No`, length tells which answer it is, and what is right more often earns more.
    """
    length, index = characters(table), dense(table.group)
    good = np.isfinite(length)
    pairs = np.unique(np.stack((index[good], length[good].astype(np.int64)), axis=1), axis=0)
    lengths = np.bincount(pairs[:, 0], minlength=int(index.max(initial=0)) + 1)
    return np.where(lengths[index] >= LEAST_LENGTHS, length, np.nan)
