"""The experiment `untrained-start`."""

from __future__ import annotations

from ...finding import Component, Link
from ..control.readings import EXPECT, share_of_span
from ..control.training import AGENT, SCORED, agent_of, subjected, table
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial


@experiment(
    "untrained-start",
    hypothesis="Training has made the agent no better than the model it started from.",
    changes="training",
    control="none",
    changed="full",
    prediction="Under one evaluation, the trained agent does not clearly beat the untrained one.",
    needs=(TRAINER, ENV),
    options=(AGENT, *SCORED, EXPECT),
    cost=Cost(1.0, "one training for each seed; none with --with agent=module:name"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.BELOW,
        margin=share_of_span,
    ),
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    together=True,
)
def measure(trial: Trial) -> tuple[Measures, Measures]:
    """Training has made the agent no better than the model it started from.

    What is changed:
        Whether the agent has been trained. Both are evaluated alike, on the same episodes.

    Prediction:
        If nothing was learnt, the gain over the start is missing.

    How the verdict is drawn:
        Confirmed when trained minus untrained lies below the margin, refuted when above it. The score that a report
        quotes means nothing without this baseline.

    Cost:
        One training for each seed; with `--with agent=module:name` (an agent, or a function that loads one) none.

    When it cannot decide:
        When the trainer cannot be asked for 0 steps, it refuses to look.

    References:
        Evaluation of the base model before training, as in the guide of AReaL.
    """
    _, task, agent = agent_of(trial)
    subject = subjected(trial)
    start = subject.untrained_or_refused()
    random = table("random", task.at_random().score)
    return {**table("score", subject.score(start)), **random}, {**table("score", subject.score(agent)), **random}
