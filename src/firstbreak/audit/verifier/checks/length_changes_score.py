"""The check `length-changes-score`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import unasked
from ..record import Audit

SHARE = 0.2
"""Part of the distance between right and nonsense that length may move. Engineering default."""


@check(
    "VER023",
    "length-changes-score",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Score the answer apart from the length; bound any length term well below correctness.",
    explained_by=(
        "score-not-repeatable",
        "score-depends-on-calls-before",
        "slow-answers-refused",
        "null-answers-accepted",
        "format-alone-accepted",
    ),
)
def look(audit: Audit) -> Answer:
    """The score depends on how much is written round the answer.

    What is measured:
        The same right and the same wrong answer after 400, 2,000 and 8,000 characters of neutral reasoning. An
        error where length alone makes a right answer fail or a wrong one pass in half of the rows; a warning where
        it moves the score by more than a fifth of the distance between right and wrong.

    Why it hurts:
        Length is the easiest thing to change; the policy grows or shrinks its answers instead of solving.

    Usual causes:
        A length bonus or penalty without a bound; a cut of the response before the answer; a time-out.

    What to try:
        Bound the length term; look for the answer from the end.

    When it is harmless:
        A cut that equals the trainer's own maximum length.
    """
    skip = unasked(audit, "long-right")
    if skip is not None:
        return skip
    short = {t.row: t for t in audit.of("right") if t.form == audit.accepted[0]}
    lost = [t for t in audit.of("long-right") if t.how == "ok" and not audit.passed(t) and audit.passed(short[t.row])]
    won = [t for t in audit.of("long-wrong") if audit.passed(t)]
    rows_flipped = max(len({t.row for t in side}) for side in (lost, won))
    moves = [abs(t.value - short[t.row].value) for t in audit.of("long-right") if t.how == short[t.row].how == "ok"]
    moved = max(moves, default=0.0) / audit.span
    flips = rows_flipped >= max(2, len({t.row for t in audit.of("long-right")}) / 2)
    if not flips and moved <= SHARE:
        return None
    sizes = sorted({int(t.form) for t in (*lost, *won)})
    what = "right answers fail" if len(lost) >= len(won) else "wrong answers pass"
    words = (
        f"{what} from {sizes[0]:,} characters of reasoning on"
        if flips
        else f"length moves the score by {100 * moved:.0f} %"
    )
    return Symptom(
        f"{words} ({len(lost)} right refused, {len(won)} wrong passed)",
        "verifier",
        {
            "right_refused": len(lost),
            "wrong_passed": len(won),
            "asked": len(audit.of("long-right")),
            "score_moved_frac": moved,
        },
        severity=Severity.ERROR if flips else Severity.WARNING,
    )
