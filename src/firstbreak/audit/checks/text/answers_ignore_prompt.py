"""The check `answers-ignore-prompt`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...across.mutual import Retrieval, retrieval, rivals
from ...judgement.paid import column
from ...table import Table

COIN = 0.65
"""Upper bound; answers that name what they were asked give 0.9 and more, chance 0.5. Engineering default."""
LEAST_PROMPTS = 20
SHORT_WORDS = 8
"""Engineering defaults."""


@check(
    "AUD043",
    "answers-ignore-prompt",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    fix="Draw answers to two prompts that differ in one name: they must differ in it too.",
)
def look(table: Table) -> Answer:
    """Answers say nothing of their prompt: it cannot be told from them which prompt they answer.

    What is measured:
        For one drawn answer a prompt: how many of the other prompts fit it worse than its own, by the rarer words they
        share, with a 95 % interval over prompts. A half means that answers tell nothing of their prompt. It stands for
        the mutual information of prompt and answer. Where answers to one prompt are found from one another, they depend
        on it in other words, and there is no finding; where prompts have one answer each, that cannot be seen, and the
        finding is a note.

    Why it hurts:
        Entropy within a prompt can stay high while all prompts get the same kind of text: the collapse that entropy
        misses.

    Usual causes:
        Template collapse; a prompt that is cut off or never reaches the model; a chat template that drops the user's
        turn.

    What to try:
        Print the prompt that the sampler sees.

    When it is harmless:
        When answers are one word or one number, which are skipped; when one answer a prompt is a translation.

    References:
        RAGEN, Wang et al. 2025, arXiv 2504.20073; Li et al. 2015, arXiv 1510.03055 (mutual information against
        dullness).
    """
    words = column(table, "text/words")
    if not np.isfinite(words).any() or np.nanmedian(words) < SHORT_WORDS:
        return Skip(f"answers of fewer than {SHORT_WORDS} words say nothing of their prompt")
    seen = retrieval(table.drawn)
    if seen is None or seen.prompts < LEAST_PROMPTS:
        return Skip(f"fewer than {LEAST_PROMPTS} different prompts", ("samples of more prompts",))
    alike = rivals(table.together)
    if seen.above_high >= COIN or (alike is not None and alike.above_low >= COIN):
        return None
    return _symptom(seen, alike)


def _symptom(seen: Retrieval, alike: Retrieval | None) -> Symptom:
    alone = alike is None or alike.prompts < LEAST_PROMPTS
    more = {} if alike is None else {"rival_fits_better_frac": alike.above_frac, "prompts_with_rivals": alike.prompts}
    return Symptom(
        f"an answer fits its own prompt better than another in {100 * seen.above_frac:.0f} % of cases (chance: 50 %)",
        "response",
        {
            "own_fits_better_frac": seen.above_frac,
            "low_frac": seen.above_low,
            "high_frac": seen.above_high,
            "found_frac": seen.found_frac,
            "prompts": seen.prompts,
            **more,
        },
        severity=Severity.INFO if alone else None,
    )
