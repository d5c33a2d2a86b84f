"""The check `near-answers-accepted`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..passing import wrong_ones_passing
from ..record import Audit


@check(
    "VER016",
    "near-answers-accepted",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Compare exactly, or with a tolerance of the last digit that is given.",
    explained_by=(
        "null-answers-accepted",
        "format-alone-accepted",
    ),
)
def look(audit: Audit) -> Answer:
    """Answers near the right one pass: off by one, another sign, a digit more, 5 % off, another choice.

    What is measured:
        Up to ten wrong answers near the right one, in the format that is understood best, on every row. An error
        where one way of being wrong passes in half of its rows.

    Why it hurts:
        The policy is paid for being about right, and stops there; a digit more or less is another answer.

    Usual causes:
        A relative tolerance; substring search (42 in 142); signs or units dropped before comparing.

    What to try:
        Compare numbers as fractions; use a tolerance only where the reference is rounded.

    When it is harmless:
        Answers that are measured or rounded, where 5 % is within what is wanted.
    """
    return wrong_ones_passing(audit, "near", "wrong answers near the right one pass", usable=True)
