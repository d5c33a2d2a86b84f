"""The check `model-scores-constant`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..record import Scored


@check(
    "RWM003",
    "model-scores-constant",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Check that the head is loaded: a fresh classification head scores everything alike.",
)
def look(scored: Scored) -> Answer:
    """Every response gets the same score.

    What is measured:
        The spread of all scores against their size: below a millionth of it.

    Why it hurts:
        A constant reward teaches nothing: advantages are zero.

    Usual causes:
        A head that was not loaded; inputs that are cut before the response; a constant function.

    What to try:
        Score a good and a nonsensical response by hand; look for warnings of newly initialised weights.

    When it is harmless:
        Never for a reward that is to be optimised.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    values = scored.everything
    spread, size = float(values.std()), float(abs(values).max())
    if spread > 1e-6 * max(size, 1e-12):
        return None
    return Symptom(
        f"{values.size} responses score {values[0]:.4g}, all alike",
        "scorer",
        {"score": float(values[0]), "scores": values.size},
    )
