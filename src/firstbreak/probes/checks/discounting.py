"""PRB003: the discount over three steps."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import DISCOUNTED
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong, target_maker
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """V = (g^2, g, 1), and what it is when the discount is missing, doubled or misplaced."""
    g, where = gamma, target_maker(has_q)
    return Answers(
        (g * g, g, 1.0),
        (
            Wrong((1.0, 1.0, 1.0), "the discount is not applied", where),
            Wrong((g**4, g * g, 1.0), "the discount is applied twice", where),
            Wrong((g**3, g * g, g), "the reward itself is discounted once", where),
            Wrong((0.0, 0.0, 1.0), "the next state's value is not bootstrapped or of a wrong row", where),
            Wrong((g, g, 1.0), "each row gets the largest next value of the batch", where),
            Wrong((1.0, 0.0, 0.0), "rewards are stored one step late", Component.ROLLOUT, Link.ENVIRONMENT_DATA),
            Wrong((g, 1.0, 0.0), "rewards are stored one step early", Component.ROLLOUT, Link.ENVIRONMENT_DATA),
            Wrong((0.95**2, 0.95, 1.0), "lambda is used as the discount", where),
        ),
    )


RUNG = Rung("discounting", "the discount", DISCOUNTED, "value", answers, (0, 1, 2), tells_gamma=True,
            needs=("value-from-observation",))  # fmt: skip


@check(
    "PRB003",
    "discount-wrong",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    fix="Recompute one target by hand: r + gamma * (1 - terminated) * V(next).",
    severity=Severity.ERROR,
    explained_by=("value-not-learned", "value-ignores-observation"),
)
def look(trial: Trial) -> Answer:
    """A reward three steps ahead is not discounted as the trainer's gamma says.

    **What is measured.** Three distinct states, reward 1 at the last, gamma 0.5 where it can be set. V must be gamma
    squared, gamma and 1. The gamma that the values imply is in the evidence.

    **Why it hurts.** The agent plans for another horizon than the one configured.

    **Usual causes.** Gamma missing, applied twice, applied to the reward, exchanged with lambda, or no bootstrap; a
    maximum over the batch in the place of a maximum over actions; rewards stored one row off.

    **What to try.** Compare the stored targets of one episode with the sum written out by hand.

    **When it is harmless.** When gamma is meant to differ from what was passed; then let the trainer say so.

    References: Sutton and Barto 2018, section 3.3.
    """
    return judge(trial, RUNG)
