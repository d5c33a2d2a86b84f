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
from ..trial import Trial

SHARE = 1 / 100
"""Length of a trial in units of the run: nothing has to be learnt, one update is enough. Engineering default."""
LEAST_STEPS = 256


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
    cost=Cost(2 * SHARE, "two short trainings for each pair of seeds, a hundredth of the run each"),
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
    pilot=2,
    together=True,
)
def measure(trial: Trial) -> tuple[Measures, Measures]:
    """Something other than the optimiser changes the agent.

    What is changed:
        Every step of every torch optimiser is taken with learning rate 0; a trainer without torch is told through its
        own setting. Measured is the share of 32 observations of which the agent's greedy action, draws (with the same
        seed) or value are others than before training.

    Prediction:
        If a normaliser, a buffer, a target, a copied network or a hand-written update moves the agent, it moves still.

    How the verdict is drawn:
        Exact. Confirmed by the first seed with which a single observation is answered differently, refuted when none is
        with either of two seeds.

    Cost:
        Two trainings of a hundredth of the run for each of two seeds; for the first alone where that proves the
        hypothesis.

    When it cannot decide:
        When nothing moves with the trainer's own learning rate either.

    References:
        Huang et al. 2022, "The 37 implementation details of PPO"; the check is arithmetic.
    """
    subject = subjected(trial)
    observations = subject.task.observations(PROBED)
    steps = int(trial.subject.given.get("short_steps") or _usual(subject))
    start = subject.untrained_or_refused()
    before, again = answers(start, observations), answers(start, observations)
    restless = {"restless_frac": differing_frac(before, again)}
    own, taken = _own(subject, steps, before, observations)
    begun = trial.env_steps
    zero = answers(_at_zero(trial, subject, steps), observations)
    return (
        {"moved_frac": own, **restless, "env_steps": float(taken)},
        {"moved_frac": differing_frac(before, zero), **restless, "env_steps": float(trial.env_steps - begun)},
    )


def _usual(subject: Subjected) -> int:
    return max(round(subject.steps * SHARE), LEAST_STEPS)


def _own(subject: Subjected, steps: int, before: Any, observations: Any) -> tuple[float, int]:
    """Return the share of answers that the trainer's own learning rate changes, and within how many steps.

    What is waited for in `steps` may be rare; that the optimiser moves anything shows as soon as it steps. So the usual
    length is tried first.
    """
    moved, taken, least = 0.0, 0, _usual(subject)
    for length in (least, steps) if steps > least else (steps,):
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
