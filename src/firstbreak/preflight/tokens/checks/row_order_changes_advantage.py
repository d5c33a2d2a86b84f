"""Rows that come prompt by prompt in turn get other advantages than the same rows side by side."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..grouping import interleaved


@check(
    "TOK092",
    "row-order-changes-advantage",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Group by id, not by place.",
    explained_by=("groups-leak-advantage",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Rows that come prompt by prompt in turn get other advantages than the same rows side by side.

    Measured: the advantages of three groups whose rows are interleaved, against those of the same rows in
    order.

    Why it hurts: answers to different prompts are compared with each other.

    Usual causes: a reshape to [prompts, group size] that expects the rows of a prompt side by side.

    What to try: use the group ids in the reduction.

    Harmless: when the sampler is certain to keep the rows of a prompt together: the settings then say
    `groups_adjacent`.
    """
    change = bench.once(interleaved)
    if change <= 1e-3:
        return None
    return Symptom(
        f"interleaving the rows of three prompts changes the advantages by {change:.0%}",
        "advantages",
        {"change_frac": change},
    )
