"""The check `wrong-answers-accepted`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import unasked
from ..record import TRYING, Audit

NOISE = 0.005
"""Rate, surely exceeded, from which on it is told. Engineering default."""
MUCH = 0.05
"""Rate, surely exceeded, from which on it is an error. Engineering default."""


@check(
    "VER018",
    "wrong-answers-accepted",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Read the table of what passes, and close the kind that passes most first.",
    explained_by=(
        "null-answers-accepted",
        "format-alone-accepted",
        "prompt-copy-accepted",
        "answer-found-anywhere",
        "near-answers-accepted",
        "tests-tampered-with",
    ),
)
def look(audit: Audit) -> Answer:
    """Too many wrong responses pass.

    What is measured:
        The false-positive rate over all wrong responses that try to be paid (near answers, misplaced answers,
        copies, format alone, responses given as wrong), with its 95 % interval clustered by row. An error where the
        rate surely exceeds 5 %.

    Why it hurts:
        Each way of being paid without being right is a policy that can be learnt.

    Usual causes:
        See the findings on the single kinds.

    What to try:
        Add the fooling strings of this report to the verifier's own tests.

    When it is harmless:
        Graded tasks in which a near answer deserves its score: set --pass-mark.

    References:
        Wilson 1927; Cochran 1977, section 11.8, for clusters.
    """
    skip = unasked(audit, *TRYING)
    if skip is not None:
        return skip
    rate = audit.false_positives
    given = sum(audit.passed(t) for t in audit.of("given-wrong"))
    if rate.low <= NOISE and not given:
        return None
    return Symptom(
        f"{rate.words()} wrong responses pass (95 % interval {100 * rate.low:.1f} to {100 * rate.high:.1f} %)",
        "verifier",
        {
            "false_positive_frac": rate.value,
            "low_frac": rate.low,
            "high_frac": rate.high,
            "asked": rate.tries,
            "rows": rate.rows,
            "given_as_wrong_passed": given,
        },
        severity=Severity.ERROR if rate.low > MUCH else Severity.WARNING,
    )
