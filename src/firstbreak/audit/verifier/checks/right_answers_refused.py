"""The check `right-answers-refused`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import unasked
from ..record import Audit


@check(
    "VER008",
    "right-answers-refused",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Put one right answer to it by hand and follow the comparison.",
    explained_by=(
        "verifier-ends-process",
        "verifier-hangs",
        "verifier-raises",
        "score-not-a-number",
        "score-count-wrong",
    ),
)
def look(audit: Audit) -> Answer:
    """The right answer is refused in every format tried.

    What is measured:
        The share of rows whose right answer passes, by itself and in eight usual formats (box, tags, ####,
        sentence).

    Why it hurts:
        No response is ever paid: every group is all-wrong, and nothing is learnt.

    Usual causes:
        Arguments in another order than the trainer gives them; a comparison the wrong way round; a format of your
        own.

    What to try:
        Give responses that should pass in a column `good` of --data; name the convention with --style.

    When it is harmless:
        A format of your own that this audit does not know: give examples in a column `good`.
    """
    skip = unasked(audit, "right", usable=False)
    if skip is not None:
        return skip
    if audit.usable:
        return None
    best = max(audit.shares.values(), default=0.0)
    given = audit.of("given-right")
    if any(audit.passed(t) for t in given):
        return Skip(
            "it passes the given responses and no usual format", ("--data with the column good in every row",), True
        )
    if not audit.own_data:
        return Skip(
            "it passes no built-in right answer; it may want another task or format", ("--data", "--task"), True
        )
    wrong = audit.rate(audit.of("nonsense"))
    word = (
        "right answers are refused while nonsense passes"
        if wrong.value > 0.5
        else "no format makes a right answer pass"
    )
    return Symptom(
        f"{word}: the best format passes {100 * best:.0f} % of {len(audit.questions)} rows",
        "verifier",
        {"best_format_frac": best, "rows": len(audit.questions), "nonsense_passed_frac": wrong.value},
    )
