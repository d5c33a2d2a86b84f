"""What the checks of wrong responses share: how many of one family pass, and whether that is a habit."""

from __future__ import annotations

from ...check import Answer, Symptom
from ...finding import Severity
from .gate import forms_passed, habitual, named, unasked
from .record import Audit


def wrong_ones_passing(
    audit: Audit, family: str, words: str, *, usable: bool, always: bool = False, least_frac: float = 0.0
) -> Answer:
    """Return what fires where wrong responses of `family` pass.

    Args:
        words: the message after the rate, such as `responses without an answer pass`.
        usable: whether a format that the verifier understands must be known first.
        always: an error as soon as one passes; else where one way of being wrong passes as a habit.
        least_frac: rate above which a habit is an error.
    """
    skip = unasked(audit, family, usable=usable)
    if skip is not None:
        return skip
    trials = audit.of(family)
    forms, rate = forms_passed(audit, trials), audit.rate(trials)
    if not rate.hits:
        return None
    often, worst = habitual(forms), next(iter(forms))
    return Symptom(
        f"{rate.words()} {words}; worst: {named(worst)}",
        "verifier",
        {
            "passed_frac": rate.value,
            "low_frac": rate.low,
            "high_frac": rate.high,
            "asked": rate.tries,
            "worst_form": named(worst),
            "worst_passed": forms[worst][0],
            "worst_asked": forms[worst][1],
            "forms_that_pass": len(often),
        },
        severity=Severity.ERROR if always or (often and rate.value > least_frac) else Severity.WARNING,
    )
