"""The experiment `resume`."""

from __future__ import annotations

from ...finding import Component, Link
from ..control.readings import EXPECT, share_of_span
from ..control.resuming import train_in_halves
from ..control.training import SCORED, subjected, table
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial


@experiment(
    "resume",
    hypothesis="Resuming from a checkpoint loses something that training needs.",
    changes="interruption",
    control="none",
    changed="half-way",
    prediction="A run that is saved and resumed half-way ends below an uninterrupted one.",
    needs=(TRAINER, ENV),
    options=(*SCORED, EXPECT),
    cost=Cost(2.0, "two trainings for each pair of seeds"),
    reading=Reading(
        effect=lambda control, changed: control["score"] - changed["score"],
        confirms=Side.ABOVE,
        margin=share_of_span,
    ),
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
)
def measure(trial: Trial) -> Measures:
    """Resuming from a checkpoint loses something that training needs.

    What is changed:
        Half-way the agent is saved, loaded afresh and trained on to the same number of steps, with other random
        numbers. SB3 algorithms are saved and loaded by SB3; a function takes `resume_from=path`, and its agent has
        `save(path)`.

    Prediction:
        A lost optimiser state, normaliser, schedule, replay buffer or weight costs return at the end.

    How the verdict is drawn:
        Confirmed when control minus changed lies above the margin, refuted when below it.

    Cost:
        Two trainings for each pair of seeds.

    When it cannot decide:
        A loss that is made good before the end is not seen; a short second half (fewer steps) shows more. Where the
        control does not learn, there is nothing to lose.

    References:
        None; the comparison reads off a definition.
    """
    kind = str(trial.settings["interruption"])
    trial.uses(interruption=kind)
    subject = subjected(trial)
    random = table("random", subject.task.at_random().score)
    agent = subject.train() if kind == "none" else train_in_halves(subject)
    return {**table("score", subject.score(agent)), **random}
