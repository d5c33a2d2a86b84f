"""PRB006: flags and rewards of consecutive episodes, row by row."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import MIXED
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong, target_maker
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """V = (1 + g^2, g, 1); shifted flags and rewards lead elsewhere."""
    g, where = gamma, Component.ROLLOUT
    late = 1.0 / (1.0 - g**3)
    return Answers(
        (1.0 + g * g, g, 1.0),
        (
            Wrong((1.0, g * (1.0 + g), 1.0 + g), "done flags are stored one step late", where),
            Wrong((1.0, 0.0, 1.0 + g), "done flags are stored one step early", where),
            Wrong((1.0 + g, 1.0, 0.0), "rewards are stored one step late", where, Link.ENVIRONMENT_DATA),
            Wrong((g + g * g, 1.0 + g, 1.0), "rewards are stored one step early", where, Link.ENVIRONMENT_DATA),
            Wrong(
                (late * (1 + g * g), late * (g + g**3), late * (1 + g)),
                "the end of an episode is bootstrapped over",
                target_maker(has_q),
            ),
        ),
    )


RUNG = Rung(
    "autoreset",
    "flags and rewards that belong to their own row",
    MIXED,
    "value",
    answers,
    (0, 1, 2),
    needs=("discounting", "termination"),
)


@check(
    "PRB006",
    "episodes-mixed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    fix="Print one stored episode: obs, action, reward, terminated, truncated must belong to one step in each row.",
    severity=Severity.ERROR,
    explained_by=(
        "value-not-learned",
        "value-ignores-observation",
        "discount-wrong",
        "termination-not-cut",
    ),
)
def look(trial: Trial) -> Answer:
    """Rewards or end flags of one episode reach rows of another.

    **What is measured.** Three steps that pay 1, 0 and 1, over many episodes; the final observation is that of the
    first state. V must be 1 + gamma squared, gamma and 1.

    **Why it hurts.** Each episode starts with another episode's news; the error grows as episodes get shorter.

    **Usual causes.** Flags or rewards shifted by one row between environment and buffer; the observation after the
    automatic reset taken for the last one.

    **What to try.** Roll out an environment that counts its steps and compare rows by eye.

    **When it is harmless.** Never.

    References: Gymnasium documentation, "Vector environments", autoreset modes.
    """
    return judge(trial, RUNG)
