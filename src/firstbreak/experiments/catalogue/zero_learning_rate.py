"""The experiment `zero-learning-rate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...finding import Component, Link
from ..control.behaviour import PROBED, answers, differing_frac
from ..control.knobs import OWN_NAME, knobs_of
from ..control.optimisers import held_still
from ..control.training import Subjected, subjected
from ..experiment import ENV, TRAINER, Cost, Measures, Option, Reading, Side, experiment
from ..subject import Subject
from ..trial import CHANGED, Trial

SHARE = 1 / 100
"""Length of a trial in units of the run: nothing has to be learnt, one update is enough. Engineering default."""
LEAST_STEPS = 256
FIRST_FRAC = 1 / 8
"""Share of a trial after which it is looked first whether the trainer's own learning rate moves the agent. Where it
does not yet, an eighth more is spent. Engineering default."""
PILOT = 2
"""Seeds with which nothing must move. The first alone is trained with its own learning rate as well."""


WORDS = "short trainings, a hundredth of the run each: one with its own learning rate, one with 0 for each seed"


def usual_steps(run_steps: int) -> int:
    """Return the length of a trial where nothing else is said."""
    return max(round(run_steps * SHARE), LEAST_STEPS)


def costing(subject: Subject) -> Cost:
    """Return what a pair of the pilot costs, by how long a trial has to be."""
    run = subject.steps
    if run is None:
        return Cost((1 + PILOT) / PILOT * SHARE, WORDS)
    usual = usual_steps(run)
    asked = int(subject.given.get("short_steps") or usual)
    runs = (min(usual, asked) + PILOT * asked) / PILOT / run
    words = (
        f"short trainings: one with its own learning rate, and one of {asked:,} of {run:,} steps with 0 for each seed"
    )
    return Cost(round(runs, 4), words)


def moves(controls: Sequence[Measures], subject: Subject) -> str:
    """The symptom "training moves the agent": with its own learning rate the agent's answers change."""
    del subject
    if all(c["moved_frac"] > 0 for c in controls):
        return ""
    steps = controls[0]["env_steps"]
    return (
        f"with its own learning rate nothing moves either within {steps:.0f} steps. If its first update comes later, "
        "say so: --with short_steps=N. If it does come, the policy is frozen: see overfit-one-batch."
    )


@experiment(
    "zero-learning-rate",
    hypothesis="Something other than the optimiser changes the agent.",
    changes="learning_rate",
    control="own",
    changed="zero",
    prediction="With learning rate 0 the agent's actions or values still change.",
    needs=(TRAINER, ENV),
    options=(Option("short_steps", "environment steps of the short training", least=1), OWN_NAME),
    cost=Cost((1 + PILOT) / PILOT * SHARE, WORDS),
    costing=costing,
    reading=Reading(
        effect=lambda control, changed: changed["moved_frac"] - changed["restless_frac"],
        confirms=Side.ABOVE,
        margin=0.5 / PROBED,
        unit="of the observations answered differently",
        symptom=moves,
        exact=True,
        one_proves=True,
    ),
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    pilot=PILOT,
    together=True,
    control_once=True,
)
def measure(trial: Trial) -> Measures | tuple[Measures, Measures]:
    """Something other than the optimiser changes the agent.

    What is changed:
        Every step of every torch optimiser is taken with learning rate 0; a trainer without torch is told through its
        own setting. Measured is the share of 32 observations of which the agent's greedy action, draws (with the same
        seed) or value are others than before training.

    Prediction:
        If a normaliser, a buffer, a target, a copied network or a hand-written update moves the agent, it moves still.

    How the verdict is drawn:
        Exact. Confirmed by the first seed with which a single observation is answered differently, refuted when none is
        with either of two seeds. Training with its own learning rate only has to move the agent: the first seed shows
        that, and the other shares it.

    Cost:
        A training of a hundredth of the run with its own learning rate, and one with 0 for each of two seeds; for the
        first alone where that proves the hypothesis. Where `short_steps` says that what is suspected comes later, the
        trainings with 0 are as long, and the plan says so: from a tenth of the run on it is no longer cheap.

    When it cannot decide:
        When nothing moves with the trainer's own learning rate either.

    References:
        Huang et al. 2022, "The 37 implementation details of PPO"; the check is arithmetic.
    """
    subject = subjected(trial)
    observations = subject.task.observations(PROBED)
    steps = int(trial.subject.given.get("short_steps") or usual_steps(subject.steps))
    start = subject.untrained_or_refused()
    before, again = answers(start, observations), answers(start, observations)
    restless = {"restless_frac": differing_frac(before, again)}
    own, taken = (0.0, 0) if trial.arm == CHANGED else _own(subject, steps, before, observations)
    begun = trial.env_steps
    zero = answers(_at_zero(trial, subject, steps), observations)
    changed = {"moved_frac": differing_frac(before, zero), **restless, "env_steps": float(trial.env_steps - begun)}
    return changed if trial.arm == CHANGED else ({"moved_frac": own, **restless, "env_steps": float(taken)}, changed)


def _own(subject: Subjected, steps: int, before: Any, observations: Any) -> tuple[float, int]:
    """Return the share of answers that the trainer's own learning rate changes, and within how many steps.

    What is waited for in `steps` may be rare; that the optimiser moves anything shows as soon as it steps. So shorter
    trainings are tried first.
    """
    moved, taken, usual = 0.0, 0, usual_steps(subject.steps)
    for length in sorted({max(round(min(usual, steps) * FIRST_FRAC), 1), min(usual, steps), steps}):
        begun = subject.trial.env_steps
        moved = differing_frac(before, answers(subject.train(steps=length), observations))
        taken = subject.trial.env_steps - begun
        if moved > 0:
            break
    return moved, taken


def _at_zero(trial: Trial, subject: Subjected, steps: int) -> Any:
    """Train with every optimiser held still; a trainer that steps none of torch's is told by its own setting."""
    with held_still() as seen:
        agent = subject.train(steps=steps)
    if seen.seen:
        return agent
    knobs = knobs_of(trial.subject)
    zeros = {name: 0.0 for name, value in knobs.find("learning_rate").items() if isinstance(value, int | float)}
    if not zeros:
        raise InputError(
            f"{trial.subject.trainer} stepped no torch optimiser and has no setting for its learning rate.",
            "Give its name: --with learning_rate_setting=NAME.",
        )
    return subjected(trial, knobs.settings(zeros)).train(steps=steps)
