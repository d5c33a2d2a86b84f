"""The check `verifier-pleasing-strings`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rewards
from ...judgement.paid import answer, column
from ...table import Table

ORDERS = 5
"""Answers with orders from which they are worth a look even unpaid. Engineering default."""


@check(
    "AUD033",
    "verifier-pleasing-strings",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Put the string through the scorer by itself; strip what addresses the judge before scoring.",
)
def look(table: Table) -> Answer:
    """Strings that speak to the judge or flatter the user are paid.

    What is measured:
        Answers with phrases that praise themselves, give orders to a grader, flatter the user or are an empty opener
        (lists of firstbreak); what they earn beyond their rivals, and how many give orders, paid or not.

    Why it hurts:
        A judge that obeys or believes the text it judges can be talked into anything.

    Usual causes:
        A language model as judge that gets the answer without marks around it; a reward model trained on polite pairs.

    What to try:
        The verifier audit (`firstbreak audit verifier`) with these strings; quote the answer as data.

    When it is harmless:
        When the prompt itself asks for such phrases.

    References:
        Zhao et al. 2025, arXiv 2507.08794; Zheng et al. 2024, arXiv 2410.07137; Sharma et al. 2023, arXiv 2310.13548.
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    names = ("text/judge_addressed", "text/injections", "text/sycophancy", "text/hollow")
    counts = {name: np.nan_to_num(column(table, name)) for name in names}
    marked = sum(counts.values(), np.zeros(table.n)) > 0
    found = answer(table, marked, "answers with strings that please judges", "text/judge_addressed", least=5)
    orders = int((counts["text/injections"] > 0).sum())
    if isinstance(found, Symptom):
        return Symptom(found.message, found.where, found.evidence | {"with_orders": orders}, severity=found.severity)
    if orders < ORDERS:
        return found
    return Symptom(
        f"{orders} answers hold orders to a judge or marks of a chat template",
        "text/injections",
        {"with_orders": orders, "samples": table.n},
        severity=Severity.INFO,
    )
