"""The entropy bonus has a gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..entropy import entropy_term


@check(
    "INV065",
    "entropy-bonus-without-gradient",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Take the entropy of the distribution that the loss has just built, with its gradient.",
    explained_by=("parameter-not-in-optimiser",),
)
@skips
def look(bench: Bench) -> Answer:
    """The entropy bonus has a gradient.

    Measured: the value of the term of the loss that is named for the entropy, and its gradient on the actor.

    Why it hurts: the number is in the loss and in the log, and the policy never hears of it: exploration dies as if the
    coefficient were 0.

    Usual causes: the entropy that was stored at collection; a detach() or no_grad() around it; item().

    What to try: loss = policy + value - coefficient * entropy of the present distribution.

    Harmless: a Gaussian of fixed spread, whose entropy nothing can move; then leave the term out.

    References: Mnih et al. 2016, arXiv 1602.01783.
    """
    found = bench.once(entropy_term)
    if found.gradient > 0.0 or found.value == 0.0:
        return None
    return Symptom(
        f"the entropy term is {found.value:+.3g} and its gradient on the policy is 0",
        "losses.entropy",
        {"term": found.value, "gradient": found.gradient},
    )
