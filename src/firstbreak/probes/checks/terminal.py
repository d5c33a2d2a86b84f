"""PRB004: termination against a final observation that looks like a state."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import TERMINAL
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong, target_maker
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """V = (g, 1); what it is when the end is bootstrapped over, from either observation."""
    g, where = gamma, target_maker(has_q)
    rows = 0.5 / (1.0 - g * g / 2.0)
    return Answers(
        (g, 1.0),
        (
            Wrong((g / (1 - g), 1 / (1 - g)), "the bootstrap is not cut at termination", where),
            Wrong((g / (1 - g * g), 1 / (1 - g * g)), "a terminated row bootstraps from the next episode", where),
            Wrong((g * rows, rows), "rows that reset the environment are trained on", Component.ROLLOUT),
            Wrong((0.0, 1.0), "the row before the end is cut as well", where),
        ),
    )


RUNG = Rung(
    "termination",
    "an end of the episode that cuts the bootstrap",
    TERMINAL,
    "value",
    answers,
    (0, 1),
    needs=("discounting",),
)


@check(
    "PRB004",
    "termination-not-cut",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    fix="Multiply the bootstrap by (1 - terminated), with the flag of the same row.",
    severity=Severity.ERROR,
    explained_by=(
        "value-not-learned",
        "value-ignores-observation",
        "discount-wrong",
    ),
)
def look(trial: Trial) -> Answer:
    """A terminated step does not end the value of the state before it.

    **What is measured.** Two steps that pay 0 and 1 and then terminate; the final observation is that of the last
    state, so a bootstrap over the end shows. V must be gamma and 1.

    **Why it hurts.** Every value is too high, most where an agent dies early; it learns to stay near the end.

    **Usual causes.** The factor (1 - terminated) is missing or of another row; rows that a vector environment inserts
    to reset itself are stored as if they were steps.

    **What to try.** Print target, reward and flag of the last row of one episode.

    **When it is harmless.** Never.

    References: Pardo et al. 2018, arXiv 1712.00378; Gymnasium documentation, "Vector environments", autoreset.
    """
    return judge(trial, RUNG)
