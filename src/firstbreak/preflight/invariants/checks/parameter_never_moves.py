"""Every trainable parameter moves in the first rounds of training."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..optimising import rounds


@check(
    "INV008",
    "parameter-never-moves",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Find why the named parameter gets no gradient or no step.",
    explained_by=(
        "parameter-not-in-optimiser",
        "no-gradient-step-taken",
        "parameters-not-finite",
        "policy-loss-without-gradient",
        "policy-loss-broadcasts",
        "value-loss-without-gradient",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """Every trainable parameter moves in the first rounds of training.

    Measured: which parameters are bit for bit the same after the trainer's own first rounds.

    Why it hurts: a part that does not move does not learn; the loss falls all the same because the other parts
    adapt.

    Usual causes: missing from the optimiser, cut off by detach or no_grad, a coefficient of 0, a step() that is
    never called.

    What to try: look at the checks before this one; print the gradient norm of the parameter named.

    Harmless: for a layer that this input never reaches, or with settings['frozen'].
    """
    found = bench.once(rounds)
    if not found.still or found.not_finite:
        return None
    name = found.still[0]
    link = Link.CRITIC if name.startswith("critic") else Link.POLICY_UPDATE
    message = f"{len(found.still)} trainable parameters did not move in {found.steps} steps, {name} first"
    if found.still == ("log_temperature",):
        link, message = Link.EXPLORATION, f"the temperature is set to be learnt and did not move in {found.steps} steps"
    return Symptom(message, name, {"parameters_n": len(found.still), "steps_n": found.steps}, link=link)
