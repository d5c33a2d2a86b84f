"""Environments do not see each other: permuting them permutes the advantages."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..gae import TOLERANCE, responses


@check(
    "INV044",
    "gae-crosses-environments",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Compute advantages before flattening, along the time axis.",
)
@skips
def look(bench: Bench) -> Answer:
    """Environments do not see each other: permuting them permutes the advantages.

    Measured: the largest change of an advantage [T, N] when the N environments change places.

    Why it hurts: the trace runs from the end of one environment into the start of the next.

    Usual causes: the batch flattened before GAE, axes T and N exchanged, normalisation inside GAE along the wrong
    axis.

    What to try: compute advantages on [T, N] (or [N, T]) and flatten afterwards.

    Harmless: never.

    References: Schulman et al. 2015, arXiv 1506.02438.
    """
    found = bench.once(responses)
    if found.permutation_error <= TOLERANCE:
        return None
    return Symptom(
        f"advantages change by up to {found.permutation_error:.3g} when the environments change places",
        "advantages",
        {"largest_change": found.permutation_error},
    )
