"""The entropy bonus raises the entropy."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..entropy import entropy_push


@check(
    "INV060",
    "entropy-bonus-lowers-entropy",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Subtract the coefficient times the entropy from the loss.",
)
@skips
def look(bench: Bench) -> Answer:
    """The entropy bonus raises the entropy.

    Measured: the step that the entropy term implies at zero advantages, against the gradient of the entropy itself.

    Why it hurts: exploration is punished: the policy becomes deterministic at once.

    Usual causes: the bonus added to the loss instead of subtracted; a negative entropy given a negative
    coefficient.

    What to try: loss = policy + value - coefficient * entropy.

    Harmless: when entropy is penalised on purpose late in training.

    References: Mnih et al. 2016, arXiv 1602.01783.
    """
    found = bench.once(entropy_push)
    if found.cosine > 0.0:
        return None
    return Symptom(
        f"the entropy term pushes entropy down (cosine {found.cosine:+.2f} with its gradient)",
        "update",
        {"cosine": found.cosine, "right_cosine": 1.0},
    )
