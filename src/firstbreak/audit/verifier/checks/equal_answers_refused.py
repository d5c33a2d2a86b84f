"""The check `equal-answers-refused`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link
from ..gate import unasked
from ..record import Audit, Trial


@check(
    "VER021",
    "equal-answers-refused",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Normalise both sides (spaces, separators, signs, case, notation) before comparing.",
    explained_by=(
        "verifier-raises",
        "score-not-a-number",
        "score-count-wrong",
    ),
)
def look(audit: Audit) -> Answer:
    """The right answer is refused when it is written another way.

    What is measured:
        The right answer in other notations that say exactly the same (separators, fractions, decimals, signs, case,
        order of sets, dates, spaces), in the format understood best. Told where one notation
        is refused in half of its rows, or a response that was given as right is.

    Why it hurts:
        Right answers are punished: the policy learns a notation, and what it can is underestimated by as much.

    Usual causes:
        String equality; float() on text with separators; a period or a space kept by the regular expression.

    What to try:
        Parse before comparing; compare numbers as fractions, names case-folded, sets as sets.

    When it is harmless:
        When the prompt demands one notation and the task is to keep to it.
    """
    skip = unasked(audit, "equal", "given-right")
    if skip is not None:
        return skip
    trials = audit.of("equal", "given-right")
    refused: dict[str, list[Trial]] = {}
    for trial in trials:
        refused.setdefault(trial.form, []).append(trial)
    shares = {form: sum(not audit.passed(t) for t in each) / len(each) for form, each in refused.items()}
    least = min(2, len(audit.questions))
    bad = {f: s for f, s in shares.items() if s >= 0.5 and s * len(refused[f]) >= least}
    bad.update({t.form: 1.0 for t in audit.of("given-right") if not audit.passed(t)})
    if not bad:
        return None
    rate = audit.false_negatives
    worst = sorted(bad, key=lambda f: -bad[f])
    return Symptom(
        f"{rate.words()} right answers written another way are refused: {', '.join(worst[:3])}"[:118],
        "verifier",
        {
            "false_negative_frac": rate.value,
            "low_frac": rate.low,
            "high_frac": rate.high,
            "asked": rate.tries,
            "rows": rate.rows,
            "refused_forms": ", ".join(worst),
        },
    )
