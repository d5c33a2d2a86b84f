"""The next action of a TD target is drawn at the next observation."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..consulted import asked


@check(
    "INV111",
    "td-target-acts-at-this-observation",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Draw the next action of the TD target at the next observation.",
)
@skips
def look(bench: Bench) -> Answer:
    """The next action of a TD target is drawn at the next observation.

    Measured: which observations one update gives to the actor. A soft TD target needs the policy at the observations
    that follow the rows.

    Why it hurts: the target values what the policy would do one step earlier: where the right action changes from step
    to step, Q is wrong by as much as that matters, and nothing looks odd.

    Usual causes: obs in place of next_obs in the call of the actor; columns exchanged when the batch is unpacked.

    What to try: action, log_prob = actor(next_obs).

    Harmless: never, unless a target actor of its own draws the next action; then this cannot be asked.
    """
    found = bench.once(asked)
    if found.at_next_frac:
        return None
    if not found.at_obs_frac:
        return Skip("the actor is given neither observations nor next observations (normalised, encoded?)")
    return Symptom(
        f"an update gives the actor {found.at_obs_frac:.0%} of the observations and 0% of the next ones",
        "td_target",
        {"at_obs_frac": found.at_obs_frac, "at_next_frac": found.at_next_frac},
    )
