"""A learnt temperature has a gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..soft import heat


@check(
    "INV096",
    "temperature-without-gradient",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Let the temperature loss reach log_alpha and step its optimiser.",
)
@skips
def look(bench: Bench) -> Answer:
    """A learnt temperature has a gradient.

    Measured: the gradient with which the trainer's own update steps the temperature, away from the target entropy.

    Why it hurts: the entropy is weighed by a first guess for ever.

    Usual causes: log_alpha detached, its optimiser's step never called, its loss left out.

    What to try: alpha_loss = -(log_alpha * (log_prob + target).detach()).mean(), and step its optimiser.

    Harmless: with a fixed temperature: then leave log_temperature out.

    References: Haarnoja et al. 2018, arXiv 1812.05905, section 5.
    """
    found = bench.once(heat)
    if found.gradient:
        return None
    what = "no optimiser steps it" if found.gradient is None else "its gradient is 0"
    gap = found.entropy - found.target
    return Symptom(
        f"the temperature is set to be learnt and {what}, {gap:+.2f} nats from the target entropy",
        "log_temperature",
        {"gap_nats": gap},
    )
