"""The experiment `deterministic-evaluation`."""

from __future__ import annotations

from ...finding import Component, Link
from ..control.readings import EXPECT, share_of_span
from ..control.task import EVALUATED
from ..control.training import AGENT, acting, agent_of, seed_everything, table
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial


@experiment(
    "deterministic-evaluation",
    hypothesis="The score depends on whether actions are sampled or the likeliest ones: the two are not comparable.",
    changes="actions",
    control="sampled",
    changed="deterministic",
    prediction="The same agent scores differently when its actions are not sampled.",
    needs=(TRAINER, ENV),
    options=(AGENT, EVALUATED, EXPECT),
    cost=Cost(1.0, "one training for each seed; none with --with agent=module:name"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.BEYOND,
        margin=share_of_span,
    ),
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    together=True,
)
def measure(trial: Trial) -> tuple[Measures, Measures]:
    """The score depends on whether actions are sampled or the likeliest ones.

    What is changed:
        How actions are chosen from one and the same agent, on episodes that start alike.

    Prediction:
        If the action mode matters, the two scores differ.

    How the verdict is drawn:
        Confirmed when the difference lies further from 0 than the margin, in either direction; refuted when it lies
        within the margin.

    Cost:
        One training for each seed; with `--with agent=module:name` none, the seeds are then those of episodes.

    When it cannot decide:
        When the agent takes no notice of `deterministic`, there is no difference, which refutes.

    References:
        Henderson et al. 2018, arXiv 1709.06560, section 4, on what evaluation is reported.
    """
    subject, task, agent = agent_of(trial)
    del subject
    random = table("random", task.at_random().score)
    seed_everything(trial.seed)
    sampled = {**table("score", task.score(acting(agent, False))), **random}
    greedy = {**table("score", task.score(acting(agent, True))), **random}
    return sampled, greedy
