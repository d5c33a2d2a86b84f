"""The check `score-count-wrong`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..calling import BATCHED
from ..gate import unasked
from ..record import Audit


@check(
    "VER005",
    "score-count-wrong",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Return one score for each completion, in their order.",
)
def look(audit: Audit) -> Answer:
    """A verifier of batches returns more or fewer scores than it was given responses.

    What is measured:
        Calls, with several responses and with one, whose answer is not a list of as many scores.

    Why it hurts:
        The trainer stops; where it does not, scores land on the wrong responses from the first gap on.

    Usual causes:
        Skipping what cannot be parsed; one mean for the batch; a dictionary under another key.

    What to try:
        Append a 0.0 where nothing can be parsed.

    When it is harmless:
        Never in a batch style; other styles return one score and are not concerned.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    if audit.style not in BATCHED:
        return Skip("the verifier scores one response in a call")
    wrong = audit.where("count")
    if not wrong and "scores for" not in audit.batch_note:
        return None
    note = wrong[0].note if wrong else audit.batch_note
    return Symptom(
        f"the number of scores is wrong: {note}"[:110],
        "verifier",
        {"single_calls_wrong": len(wrong), "asked": len(audit.trials), "batch": audit.batch_note[:80]},
    )
