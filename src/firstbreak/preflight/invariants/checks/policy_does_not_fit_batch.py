"""The policy can fit one fixed batch."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import CONTINUOUS_Q, Bench, skips
from ..learning import STEPS
from ..policy_learning import policy_climb

WANTED_FRAC = 0.02
"""Of what steps of that length could gain. SGD along the gradient gains all of it; Adam and RMSprop gained 0.17 to 0.76
of it in 36 looks at right trainers of three frameworks; an update that is undone or goes down gains none."""
LEAST_GAIN = 0.01
"""Nats, or shares of half the action range: with less to gain nothing is judged. Engineering default."""


@check(
    "INV064",
    "policy-does-not-fit-batch",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    fix="Look at what happens to the actor's weights after backward(): the sign of the step, who writes them later.",
    explained_by=(
        "parameter-not-in-optimiser",
        "no-gradient-step-taken",
        "parameter-never-moves",
        "gradients-not-cleared",
        "policy-loss-without-gradient",
        "policy-loss-broadcasts",
        "policy-loss-sign-flipped",
        "policy-loss-scores-other-action",
        "advantage-weights-distorted",
        "stored-log-prob-ignored",
        "actor-ignores-critic",
        "actor-lowers-critic-value",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """The policy can fit one fixed batch.

    Measured: what 40 of the trainer's own updates on twelve rows do to the mean of advantage times log-prob, the
    advantages fixed (or to the mean action, under a Q that rises with it), over what steps of that length could gain.

    Why it hurts: a policy that cannot make twelve actions likelier learns nothing from a whole rollout.

    Usual causes: an optimiser that maximises the loss, weights put back after the step (a stale copy loaded, a
    target's update on the actor), a step that goes elsewhere than down the gradient.

    What to try: print the log-prob of one stored action before and after the step.

    Harmless: where a strong penalty holds the policy on purpose; an entropy bonus is switched off or waited for.
    """
    found = bench.once(policy_climb)
    if found.budget < LEAST_GAIN:
        return Skip(f"{STEPS} steps of this length could gain only {found.budget:.1e}")
    gain = found.after - found.before
    if gain > WANTED_FRAC * found.budget:
        return None
    what = "the mean action under a rising Q"
    if bench.pieces.algorithm not in CONTINUOUS_Q:
        what = "the mean of advantage x log-prob"
    certain = gain < -WANTED_FRAC * found.budget
    return Symptom(
        f"{STEPS} updates on one batch change {what} by {gain:+.2g}; steps of that length could raise it by "
        f"{found.budget:.2g}",
        "update",
        {"gain": gain, "budget": found.budget, "steps_n": STEPS},
        severity=Severity.ERROR if certain else None,
    )
