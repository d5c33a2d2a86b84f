"""The check `eval-prompts-in-train`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks

MANY = 0.05
"""From one evaluation prompt in twenty on the score is no longer of unseen tasks."""


@check(
    "PDT012",
    "eval-prompts-in-train",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.WARNING,
    fix="Remove the evaluation prompts from the training file, by fingerprint, and evaluate again.",
)
def look(data: DataFile) -> Answer:
    """Prompts of the evaluation data are in the training data.

    What is measured:
        Evaluation prompts whose fingerprint (up to case, white space and punctuation at the ends) is among those of
        the training file; all rows of both are compared.

    Why it hurts:
        The evaluation score measures memory. It rises while the ability does not, and the wrong checkpoint is kept.

    Usual causes:
        A split made before removing duplicates; a public test set inside a collected training set.

    What to try:
        Split by fingerprint; report seen and unseen prompts apart.

    When it is harmless:
        A smoke set that is taken from the training data on purpose.

    References:
        Lee et al. 2021, arXiv 2107.06499; engineering default: an error from 5 % of the evaluation prompts on.
    """
    skip = lacks(data, "prompt") if "messages" not in data.roles else None
    if skip is not None:
        return skip
    if data.held_out is None:
        return Skip("no evaluation data to compare with", ("--eval",))
    held = data.held_out
    prompts = held.prompts[held.prompts != 0]
    if not prompts.size:
        return Skip("the evaluation data has no prompts", ("--eval",))
    seen = np.isin(prompts, data.prompts)
    count = int(seen.sum())
    if not count:
        return None
    exact = int(np.isin(held.prompts_exact[held.prompts_exact != 0], data.prompts_exact).sum())
    first = int(held.numbers[held.prompts != 0][seen][0])
    return Symptom(
        f"{shown(count, int(prompts.size))} evaluation prompts are in the training data, first row {first} of them",
        "prompt",
        {"seen": count, "seen_exactly": exact, "eval_prompts": int(prompts.size), "first_row": first},
        severity=Severity.ERROR if count >= MANY * prompts.size and count > 1 else None,
    )
