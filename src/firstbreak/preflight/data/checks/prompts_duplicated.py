"""The check `prompts-duplicated`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import repeats, shown
from ..datafile import DataFile
from ..gate import lacks

SOME = 0.01
"""Below one row in a hundred an epoch is not much changed."""


@check(
    "PDT010",
    "prompts-duplicated",
    link=Link.ENVIRONMENT_DATA,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    fix="Keep one row for each prompt, and compare prompts after removing case and extra white space.",
    explained_by=("rows-duplicated",),
)
def look(data: DataFile) -> Answer:
    """Prompts occur in more than one row.

    What is measured:
        Fingerprints of all prompts (with their context) up to case, white space and punctuation at the ends. For pairs
        and replies several rows of one prompt are usual, and it is told for information only.

    Why it hurts:
        In RL a prompt is a task: repeated tasks are seen more often than meant, are learnt by heart, and a group of
        samples of one prompt is counted as two.

    Usual causes:
        Data sets merged that share a source; one row for each answer where one for each prompt was meant.

    What to try:
        Drop by fingerprint; keep the fingerprints to compare the next data set with.

    When it is harmless:
        Several answers to one prompt, as in preference data and best-of-n.

    References:
        Lee et al. 2021, arXiv 2107.06499; engineering default: a warning from 1 % on.
    """
    skip = lacks(data, "prompt") if "messages" not in data.roles else None
    if skip is not None:
        return skip
    if data.kind == "prompts":
        return Skip("rows are prompts: repeated prompts are repeated rows")
    known = data.prompts != 0
    keys, numbers = data.prompts[known], data.numbers[known]
    count, first = repeats(keys)
    if not count:
        return None
    exact, _ = repeats(data.prompts_exact[known])
    one_each = "answer" in data.roles and data.kind == "answers"
    return Symptom(
        f"{shown(count, int(keys.size))} rows repeat the prompt of an earlier one, first row {int(numbers[first])}",
        "prompt",
        {"repeats": count, "repeats_exact": exact, "rows": int(keys.size), "first_row": int(numbers[first])},
        severity=None if one_each and count >= SOME * keys.size else Severity.INFO,
    )
