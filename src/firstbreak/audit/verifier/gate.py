"""What every check of a verifier asks first: was anything asked, and does the verifier know a right answer at all?"""

from __future__ import annotations

from collections.abc import Iterable

from ...finding import Skip
from .details import quoted
from .record import Audit, Trial


def unasked(audit: Audit, *families: str, usable: bool = True) -> Skip | None:
    """Return why a check cannot look at trials of `families`, or None when it can."""
    if audit.refused_to_start:
        return Skip(
            f"the verifier could not be started: {audit.refused_to_start}"[:200], ("a verifier that starts",), True
        )
    if not audit.trials:
        return Skip("nothing was asked", ("--time-limit",), True)
    if usable and not audit.usable:
        return Skip("the verifier passed no right answer, so what it passes means little", ("--data",), True)
    if families and not audit.of(*families):
        if audit.partial:
            return Skip("the time was over before this was asked", ("--time-limit",), True)
        return Skip("such responses do not concern this kind of answer")
    return None


def forms_passed(audit: Audit, trials: Iterable[Trial]) -> dict[str, tuple[int, int]]:
    """Return form -> (passed, asked), the most often passed first."""
    counts: dict[str, tuple[int, int]] = {}
    for trial in trials:
        passed, asked = counts.get(trial.form, (0, 0))
        counts[trial.form] = (passed + audit.passed(trial), asked + 1)
    return dict(sorted(counts.items(), key=lambda item: -item[1][0] / item[1][1]))


def habitual(forms: dict[str, tuple[int, int]]) -> list[str]:
    """Return the forms that pass in at least half of their rows, and in two at least."""
    return [name for name, (passed, asked) in forms.items() if passed >= max(2, asked / 2)]


def named(form: str) -> str:
    """Return the name of a form for a message, cut and safe to show."""
    return form if form.isascii() and form.isprintable() and len(form) <= 44 else quoted(form[:30])
