"""What the environment is sent is drawn from the policy."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..consulted import played

APART = 0.35
"""Two samples of 100 of one distribution are that far apart with a chance of 1e-5 (Smirnov 1948)."""


@check(
    "INV110",
    "actions-ignore-policy",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="After the random steps at the start, draw actions from the policy that is trained.",
    explained_by=("stored-action-not-executed", "action-range-not-covered"),
)
@skips
def look(bench: Bench) -> Answer:
    """What the environment is sent is drawn from the policy.

    Measured: the actor's weights are blown up, so that it saturates; then the actions that the environments receive,
    past the random steps at the start, against draws of the policy at the same observations.

    Why it hurts: the buffer fills with another policy's behaviour: nothing that is learnt is ever tried, and the agent
    is judged by episodes it did not play.

    Usual causes: a condition for the random start that never ends; a copy of the actor that is not kept up to date
    does the collecting; exploration noise that replaces the action.

    What to try: log the share of random actions; compare the action sent with the policy's own.

    Harmless: when data of another policy is collected on purpose.
    """
    found = bench.once(played)
    if found.distance < APART:
        return None
    return Symptom(
        f"actions sent and the policy's draws: Kolmogorov distance {found.distance:.2f} over {found.steps} steps",
        "collect",
        {"distance_frac": found.distance, "steps_n": found.steps},
    )
