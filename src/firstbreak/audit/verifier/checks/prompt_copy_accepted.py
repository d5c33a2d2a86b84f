"""The check `prompt-copy-accepted`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import unasked
from ..record import Audit


@check(
    "VER014",
    "prompt-copy-accepted",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Compare the final answer only, and take the prompt off the response first.",
    explained_by=(
        "null-answers-accepted",
        "format-alone-accepted",
        "answer-found-anywhere",
    ),
)
def look(audit: Audit) -> Answer:
    """The copied prompt passes as an answer.

    What is measured:
        The prompt as response, bare and where the answer belongs. A warning where it passes in less than half of
        the rows.

    Why it hurts:
        Copying is easy to learn and says nothing.

    Usual causes:
        Overlap of words or characters as score; searching the whole text, prompt included, for the answer.

    What to try:
        Look only at what follows the prompt, and only at the final answer.

    When it is harmless:
        Tasks whose right answer is the prompt, such as copying or formatting.
    """
    skip = unasked(audit, "prompt", usable=False)
    if skip is not None:
        return skip
    trials = audit.of("prompt")
    rate = audit.rate(trials)
    rows = {t.row for t in trials if audit.passed(t)}
    if len(rows) < min(2, len(audit.questions)):
        return None
    return Symptom(
        f"{rate.words()} copies of the prompt pass",
        "verifier",
        {
            "passed_frac": rate.value,
            "low_frac": rate.low,
            "high_frac": rate.high,
            "rows": len(rows),
            "asked": rate.tries,
        },
        severity=Severity.ERROR if len(rows) >= len(audit.questions) / 2 else Severity.WARNING,
    )
