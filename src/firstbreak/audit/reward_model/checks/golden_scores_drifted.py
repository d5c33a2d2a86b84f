"""The check `golden-scores-drifted`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....stats import rank_correlation
from ..record import Scored

LEAST = 8
"""Golden responses. Engineering default."""
RANK = 0.95
"""Rank correlation below which the order of responses has changed. Engineering default."""
SHIFT = 0.25
"""Mean shift in standard deviations of the recorded scores. Engineering default."""


@check(
    "RWM014",
    "golden-scores-drifted",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Check which weights, template and precision are loaded before comparing runs.",
)
def look(scored: Scored) -> Answer:
    """Responses with recorded scores score differently now.

    What is measured:
        Recorded and present scores of the golden responses: rank correlation below 0.95, or a mean shift of more
        than a quarter of the recorded spread. An error below a rank correlation of 0.5.

    Why it hurts:
        Reward curves of different days cannot be compared; a swapped model mid-run looks like progress or collapse.

    Usual causes:
        Another checkpoint, template, precision or library version; a judge whose model was updated.

    What to try:
        Compare the file's fingerprint and the versions; score ten golden responses by hand.

    When it is harmless:
        When the model was changed on purpose: record the scores anew.
    """
    now, before = scored.golden_now, np.array([g.before for g in scored.golden])
    use = np.isfinite(now) & np.isfinite(before)
    if not scored.golden:
        return Skip("there are no golden responses", ("--golden",))
    if use.sum() < LEAST:
        return Skip(f"{int(use.sum())} golden responses are scored; {LEAST} are needed", ("--golden",), True)
    now, before = now[use], before[use]
    spread = float(before.std())
    order = rank_correlation(before, now) if spread > 0 else 1.0
    shift = float((now - before).mean()) / max(spread, 1e-12)
    if order >= RANK and abs(shift) <= SHIFT:
        return None
    return Symptom(
        f"rank correlation with the recorded scores {order:.2f}, mean shift {shift:+.2f} standard deviations",
        "golden",
        {
            "rank_correlation": order,
            "shift_in_sd": shift,
            "largest_change": float(np.abs(now - before).max()),
            "responses": now.size,
        },
        severity=Severity.ERROR if order < 0.5 else Severity.WARNING,
    )
