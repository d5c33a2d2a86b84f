"""The check `rivals-alike`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....stats import mean_interval
from ...across.diversity import within
from ...judgement.paid import column
from ...table import Table

ALIKE = 0.7
"""Lower bound of the mean overlap; samples at temperature 1 have 0.05 to 0.3. Engineering default."""
LEAST_PROMPTS = 12
SHORT_WORDS = 8
"""Engineering defaults."""


@check(
    "AUD044",
    "rivals-alike",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    fix="Raise the temperature or the entropy bonus; look at pass@k beside pass@1.",
    explained_by=("rivals-identical",),
)
def look(table: Table) -> Answer:
    """Answers to the same prompt are nearly the same words.

    What is measured:
        The mean likeness (Jaccard of their runs of four words) of two answers to one prompt, over prompts, with a 95 %
        interval.

    Why it hurts:
        Rivals that are alike give no contrast to learn from, and pass@k falls to pass@1.

    Usual causes:
        Entropy collapse; a low temperature; top-k of 1.

    What to try:
        Compare with samples of the starting policy at the same temperature.

    When it is harmless:
        When the task leaves one way to say it.

    References:
        Cui et al. 2025, arXiv 2505.22617 (entropy mechanism); Yue et al. 2025, arXiv 2504.13837.
    """
    found = within(table.together)
    if found.size < LEAST_PROMPTS:
        return Skip(
            f"only {found.size} prompts have several answers, {LEAST_PROMPTS} are needed",
            ("more prompts with several answers",),
        )
    words = column(table, "text/words")
    if not np.isfinite(words).any() or np.nanmedian(words) < SHORT_WORDS:
        return Skip(f"answers of fewer than {SHORT_WORDS} words are alike by chance")
    mean, low, high = mean_interval(found)
    if low <= ALIKE:
        return None
    return Symptom(
        f"two answers to one prompt share {100 * mean:.0f} % of their runs of four words",
        "response",
        {"overlap_frac": mean, "low_frac": low, "high_frac": high, "prompts": int(found.size)},
    )
