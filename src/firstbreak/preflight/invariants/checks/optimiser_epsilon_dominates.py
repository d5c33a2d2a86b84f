"""The optimiser's epsilon is small beside the gradients."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..optimising import rounds

LARGEST = 100.0
"""Steps are then a hundredth of the learning rate and less, and no longer free of the gradient's scale."""


@check(
    "INV016",
    "optimiser-epsilon-dominates",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    fix="Set epsilon to 1e-5 or 1e-8, as the optimiser's own default is.",
    explained_by=("gradient-clip-vanishing", "policy-loss-without-gradient"),
)
@skips
def look(bench: Bench) -> Answer:
    """The optimiser's epsilon is small beside the gradients.

    Measured: epsilon of Adam, RMSprop and their like over the median size (root mean square per parameter) of the
    gradients that they took in the trainer's own first rounds.

    Why it hurts: the division by the gradient's own size, which is what these optimisers are for, is gone; steps are
    smaller than the learning rate says by that ratio.

    Usual causes: the learning rate and epsilon exchanged; a value in other units; one taken from another optimiser.

    What to try: the default; then log the size of a step over that of the weights.

    Harmless: with a learning rate that was tuned for it.

    References: Kingma and Ba 2015, arXiv 1412.6980, section 2.
    """
    found = bench.once(rounds)
    if not found.steps:
        return Skip("no optimiser step was taken")
    if found.epsilon_ratio <= LARGEST:
        return None
    return Symptom(
        f"the optimiser's epsilon is {found.epsilon_ratio:.2g} times the usual gradient: steps are that much too small",
        "optimisers",
        {"epsilon_ratio": found.epsilon_ratio, "largest_ratio": LARGEST},
    )
