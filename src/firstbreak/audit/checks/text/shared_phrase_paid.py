"""The check `shared-phrase-paid`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...judgement.gate import needs_rivals
from ...judgement.paid import answer
from ...judgement.phrases import phrases_of
from ...table import Table

LEAST = 2.5
"""Standard errors, besides being surer than any phrase is when rewards are shuffled. Engineering default."""


@check(
    "AUD039",
    "shared-phrase-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Read the phrase in its samples; score them with it cut out.",
)
def look(table: Table) -> Answer:
    """One phrase stands in answers to many prompts, and answers that hold it are paid more.

    What is measured:
        Every run of four words that stands at six or more prompts and in at most half of the answers: what its users
        earn beyond their rivals, in standard errors; then all users of the surest such phrases together, with a 95 %
        interval. No list of phrases is used.

    Why it hurts:
        What the policy says everywhere and is paid for everywhere has to do with the scorer, not with the prompts.

    Usual causes:
        A judge's taste; a verifier's pattern; a phrase of the reward model's training set.

    What to try:
        Cut the phrase out and score again: a sound reward does not change.

    When it is harmless:
        When the phrase is part of every right answer (an only information unless people's scores turn against it).

    References:
        Singhal et al. 2023, arXiv 2310.03716; Zhao et al. 2025, arXiv 2507.08794.
    """
    skip = needs_rivals(table)
    if skip is not None:
        return skip
    if len(table.drawn) != table.n:
        return Skip("more samples than texts are kept; phrases are judged on tables of up to 4,000 samples")
    phrases = phrases_of(table.drawn)
    sure = np.nan_to_num(phrases.z) > max(phrases.chance, LEAST)
    if not sure.any():
        return None
    users = np.zeros(table.n, bool)
    users[phrases.sample[sure[phrases.phrase]]] = True
    found = answer(table, users, "answers with a phrase that many prompts share", "response")
    if not isinstance(found, Symptom):
        return found
    evidence = found.evidence | {"phrases": int(sure.sum()), "most_prompts": int(phrases.prompts[sure].max())}
    severity = found.severity if found.severity is Severity.ERROR else Severity.INFO
    return Symptom(found.message, found.where, evidence, severity=severity)
