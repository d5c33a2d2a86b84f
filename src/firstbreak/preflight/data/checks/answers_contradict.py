"""The check `answers-contradict`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks

SOME = 0.01
"""Below one prompt in a hundred it is told for information only."""


@check(
    "PDT011",
    "answers-contradict",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Settle on one answer for each prompt, or drop the prompts whose rows disagree.",
    explained_by=("answers-misaligned",),
)
def look(data: DataFile) -> Answer:
    """The same prompt stands with different reference answers.

    What is measured:
        Among prompts with more than one row, those whose answers differ (case, space and punctuation apart).

    Why it hurts:
        Whatever the policy says is rewarded in one row and punished in the other; the best reachable reward is below 1
        and nobody knows.

    Usual causes:
        Merged sources with different keys; answers shifted in one of them; several accepted forms of one answer.

    What to try:
        Read the first such prompt; compare answers as values, not as text.

    When it is harmless:
        Answers that are different spellings of one value, or open questions.

    References:
        Engineering default: a warning from 1 % of the prompts on.
    """
    skip = lacks(data, "answer") or lacks(data, "prompt")
    if skip is not None:
        return skip
    known = (data.prompts != 0) & (data.answers != 0)
    pairs = np.unique(np.stack([data.prompts[known], data.answers[known]], 1), axis=0)
    prompts, counts = np.unique(pairs[:, 0], return_counts=True)
    split = prompts[counts > 1]
    if not split.size:
        return None
    first = int(data.numbers[known][np.isin(data.prompts[known], split)][0])
    return Symptom(
        f"{shown(int(split.size), int(prompts.size))} prompts stand with different answers, first row {first}",
        "answer",
        {"contradicted": int(split.size), "prompts": int(prompts.size), "first_row": first},
        severity=None if split.size >= SOME * prompts.size else Severity.INFO,
    )
