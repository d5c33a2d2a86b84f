"""PRB007: a time limit that truncates, against the same world that terminates."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import TIME_LIMIT
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong, target_maker
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """The last state pays 1 for ever: V = (g, 1) / (1 - g); the twin that terminates has V = (g, 1)."""
    g, where = gamma, target_maker(has_q)
    rows = 0.5 / (1.0 - g / 2.0 - g * g / 2.0)
    return Answers(
        (g / (1 - g), 1 / (1 - g)),
        (
            Wrong((g, 1.0), "a time limit is treated as termination", where),
            Wrong(
                (g / (1 - g * g), 1 / (1 - g * g)), "bootstraps from the next episode's first obs", Component.ROLLOUT
            ),
            Wrong((g * rows, rows), "rows that reset the environment are trained on", Component.ROLLOUT),
        ),
    )


RUNG = Rung(
    "time-limit",
    "a time limit that keeps the bootstrap",
    TIME_LIMIT,
    "value",
    answers,
    (0, 1),
    endless=True,
    needs=("discounting", "termination"),
)


@check(
    "PRB007",
    "time-limit-as-end",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    fix="Cut the bootstrap at terminated only; at truncated use the value of the final observation.",
    severity=Severity.ERROR,
    explained_by=(
        "value-not-learned",
        "value-ignores-observation",
        "discount-wrong",
        "termination-not-cut",
    ),
)
def look(trial: Trial) -> Answer:
    """The value before a time limit is not that of a state that goes on.

    **What is measured.** A state pays 1 at each step and a time limit truncates the episode after two. V of that state
    must be 1/(1 - gamma). The rung below is the same world with termination, where V is 1.

    **Why it hurts.** Values fall towards the time limit for no reason that the agent can see; with a limit on every
    episode the critic is wrong everywhere.

    **Usual causes.** `done = terminated or truncated` in the target; the value of the observation after the automatic
    reset in the place of the final observation; rows that reset the environment stored as steps.

    **What to try.** Recompute the targets of one truncated episode both ways.

    **When it is harmless.** When the time left is part of the observation and the limit is part of the task.

    References: Pardo et al. 2018, arXiv 1712.00378.
    """
    return judge(trial, RUNG)
