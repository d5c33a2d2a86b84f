"""The check `model-score-not-repeatable`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import LEAST, too_few
from ..record import Array, Scored

TOLERANCE = 0.05
"""Part of a typical difference; half precision changes less. Engineering default."""


@check(
    "RWM012",
    "model-score-not-repeatable",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Set eval mode, pad to one side with a mask, and score in a fixed precision.",
)
def look(scored: Scored) -> Answer:
    """The same response gets another score in another call.

    What is measured:
        The chosen responses scored again, one at a time, and in reverse order, sixteen in a call: the largest
        change against a typical score difference. An error where it exceeds that difference in a tenth of the
        responses.

    Why it hurts:
        Noise in the reward that depends on chance neighbours in the batch.

    Usual causes:
        Dropout left on; padding that is attended to; batch statistics; a judge with temperature.

    What to try:
        Call model.eval(); give the attention mask; compare batch sizes 1 and 16.

    When it is harmless:
        Differences in the last digits, from sums in another order.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    worst = {name: _changes(scored, values) for name, values in scored.again.items()}
    usable = {name: c for name, c in worst.items() if c.size >= LEAST}
    if not usable:
        return Skip(f"fewer than {LEAST} responses were scored again", ("--pairs",))
    name = max(usable, key=lambda n: float(np.quantile(usable[n], 0.9)))
    high = float(np.quantile(usable[name], 0.9))
    if high <= TOLERANCE:
        return None
    how = {"again": "again", "singly": "one at a time", "reversed": "in reverse order"}[name]
    return Symptom(
        f"scored {how}, one response in ten changes by {high:.2g} typical differences or more",
        "score",
        {"change_p90_in_differences": high, "way": name, "responses": int(usable[name].size)},
        severity=Severity.ERROR if high >= 1.0 else Severity.WARNING,
    )


def _changes(scored: Scored, values: Array) -> Array:
    """Return how far each score moved, in typical differences, where both are finite."""
    moved = np.abs(values - scored.chosen[: values.size]) / (scored.typical or 1.0)
    return moved[np.isfinite(moved)]
