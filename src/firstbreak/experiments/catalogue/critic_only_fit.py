"""The experiment `critic-only-fit`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ...finding import Component, Link
from ..control.fitting import FITTED, LEARNABLE_FRAC, estimates, fit_own, fit_reference, fixed_rows
from ..control.taking_apart import TAKEN_APART, collected_of, explained_frac, pieces_of
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..subject import Subject
from ..trial import Trial

HALF = 0.5
"""A critic that closes less than half of the gap to a quadratic function does not fit. Engineering default."""
ENOUGH = 0.7
"""The fit ends early once the critic has closed so much of the gap: the verdict is clear by then."""


def learnable(controls: Sequence[Measures], subject: Subject) -> str:
    """What the control must show: the reference explains the fixed targets."""
    del subject
    explained = fmean(min(c["explained_frac"], c["to_learn_frac"]) for c in controls)
    if explained >= LEARNABLE_FRAC:
        return ""
    words = f"a quadratic function explains only {max(explained, 0.0):.0%} more of these targets than the critic does"
    return f"{words}: it is not known whether a critic could fit them."


@experiment(
    "critic-only-fit",
    hypothesis="The critic cannot fit even fixed targets: its loss, its optimiser or its network is broken.",
    changes="critic",
    control="quadratic function",
    changed="own critic, own updates",
    prediction="On one fixed rollout the critic closes less than half of the gap to a quadratic function.",
    needs=(TRAINER, ENV),
    options=(*TAKEN_APART, FITTED),
    cost=Cost(0.0, "one rollout and at most 1,000 minibatch updates a seed; no training"),
    reading=Reading(
        effect=lambda control, changed: changed["learnt_frac"] / max(control["to_learn_frac"], 1e-9),
        confirms=Side.BELOW,
        margin=HALF,
        unit="of what there is to learn",
        symptom=learnable,
        exact=True,
    ),
    link=Link.CRITIC,
    component=Component.VALUE,
    pilot=3,
    together=True,
)
def measure(trial: Trial) -> tuple[Measures, Measures]:
    """The critic cannot fit even fixed targets.

    What is changed:
        Who fits one fixed rollout: a quadratic function, or the trainer's critic through the trainer's own updates,
        with advantages of 0 and without an entropy bonus. The targets are the observation's widest column, on a unit
        scale around what the critic says at first, so that what has to be learnt is there to be read; where all
        observations are the same, drawn ones take their place. Off-policy, the
        rows of a replay sample are marked as ends of episodes, so that the target stays fixed.

    Prediction:
        A critic that is broken in itself closes less than half of the gap between its start and the reference.

    How the verdict is drawn:
        Confirmed when the share of the gap that was closed (in variance explained) lies below one half, refuted when
        above it.
        Refuted, the critic's troubles come from targets that move: look at data and bootstrapping.

    Cost:
        No training. Into a replay buffer go 300 environment steps, or a fiftieth of a shorter run (but 128).

    When it cannot decide:
        When observations do not tell the targets apart (whole numbers that are all the same), the reference shows it
        first. A learning rate so small that
        1,000 updates do nothing counts as not fitting.

    References:
        Schulman et al. 2017, arXiv 1707.06347, section 5, for the loss; the test itself is arithmetic.
    """
    pieces = pieces_of(trial, collected_of(trial.subject))
    rows = fixed_rows(pieces)
    reference = fit_reference(rows, with_actions=pieces.rollout is None)
    before = explained_frac(estimates(pieces, rows), rows["target"])
    gap = reference - before
    after = fit_own(trial, pieces, rows, enough=before + ENOUGH * gap, too_little=before + HALF * gap)
    return {"explained_frac": reference, "to_learn_frac": gap}, {
        "explained_frac": after,
        "learnt_frac": max(after - before, 0.0),
    }
