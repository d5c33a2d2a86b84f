"""The deterministic action is the middle of what the policy draws."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..central import central

MANY_FRAC = 0.25
"""Of all observations and dimensions. Engineering default: a right policy has none."""


@check(
    "INV113",
    "deterministic-action-not-the-mode",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.ERROR,
    fix="Send the mode through the same squashing and scaling as the draws.",
    explained_by=("deterministic-action-random", "action-range-not-covered", "stored-action-not-executed"),
)
@skips
def look(bench: Bench) -> Answer:
    """The deterministic action is the middle of what the policy draws.

    Measured: predict(obs, deterministic=True) among a hundred draws at the same observations, the actor's weights made
    larger in steps; of discrete actions whether another is likelier.

    Why it hurts: evaluation and deployment play another policy than the one that was trained, and often one that sits
    at the bounds.

    Usual causes: the mean returned before tanh; scaling to the bounds forgotten in one of the two ways; argmax over
    another axis or over log-probs with their sign turned.

    What to try: write one function that turns the network's output into an action, and use it in both ways.

    Harmless: where evaluation plays another policy on purpose (a search on top of the network).
    """
    found = bench.once(central)
    if found.apart_frac < MANY_FRAC:
        return None
    words = "are not the likeliest" if found.discrete else "lie beyond 98% of the policy's draws"
    return Symptom(
        f"{found.apart_frac:.0%} of the deterministic actions {words} at the same observation",
        "predict",
        {"apart_frac": found.apart_frac, "weights_factor": found.factor},
    )
