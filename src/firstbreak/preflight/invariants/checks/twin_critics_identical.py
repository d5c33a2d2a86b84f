"""Twin critics start from different weights."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..torch_types import load_torch


@check(
    "INV004",
    "twin-critics-identical",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Initialise each critic on its own instead of copying one into the other.",
)
@skips
def look(bench: Bench) -> Answer:
    """Twin critics start from different weights.

    Measured: all weights of the two critics, compared bit by bit.

    Why it hurts: with equal weights, data and targets the twins stay equal for ever; their minimum is then no guard
    at all.

    Usual causes: the second critic loads the state of the first, is a copy of it, or is the same object.

    What to try: let each critic draw its own first weights.

    Harmless: never for clipped double Q-learning.

    References: Fujimoto et al. 2018, arXiv 1802.09477.
    """
    torch = load_torch()

    if len(bench.pieces.critics) < 2:
        return Skip("there is only one critic")
    first, second = (list(c.parameters()) for c in bench.pieces.critics[:2])
    same = len(first) == len(second) and all(
        a.shape == b.shape and bool(torch.equal(a, b)) for a, b in zip(first, second, strict=True)
    )
    if not same:
        return None
    return Symptom(
        f"the twin critics have the same {sum(w.numel() for w in first)} weights: they will stay equal for ever",
        "critics",
        {"weights_n": sum(w.numel() for w in first)},
    )
