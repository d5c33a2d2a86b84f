"""The check `score-not-a-number`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..details import quoted
from ..gate import unasked
from ..record import Audit


@check(
    "VER004",
    "score-not-a-number",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Return a finite float in every branch.",
)
def look(audit: Audit) -> Answer:
    """The verifier returns something that is not a finite number.

    What is measured:
        Returned values that are None, NaN, infinite, text or of another kind. In TRL's style None means 'leave out'
        and is only noted.

    Why it hurts:
        A single NaN makes the advantages of its group NaN, and from there the weights.

    Usual causes:
        A branch without a return; 0/0 for empty responses; a label instead of a score; a dictionary without the key
        score.

    What to try:
        Return 0.0 where there is nothing to score; check with math.isfinite before returning.

    When it is harmless:
        None in TRL's style, where a reward function may abstain.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    odd = audit.where("none", "nan", "text", "other")
    if not odd:
        return None
    first = odd[0]
    abstains = audit.style.startswith("trl") and all(t.how == "none" for t in odd)
    what = {"none": "None", "nan": "NaN or an infinity", "text": "text"}.get(first.how, first.note)
    return Symptom(
        f"returns {what} for {len(odd)} of {len(audit.trials)} responses, first {first.family}",
        "verifier",
        {
            "odd": len(odd),
            "asked": len(audit.trials),
            "kind": first.how,
            "type": first.note,
            "first_row": first.row + 1,
            "first_response": quoted(first.response),
        },
        severity=Severity.INFO if abstains else Severity.ERROR,
    )
