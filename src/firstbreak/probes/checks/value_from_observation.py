"""PRB002: the value of two states that pay -1 and 1."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import OBSERVED
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """V = (-1, 1); a mean over rows gives 0 in both states."""
    del gamma, has_q
    return Answers(
        (-1.0, 1.0),
        (
            Wrong((0.0, 0.0), "rows are averaged ([B] against [B, 1]) or obs is unseen", Component.VALUE),
            Wrong((1.0, -1.0), "rewards are stored in another episode's row", Component.ROLLOUT),
            Wrong((1.0, 1.0), "the sign of the observation or reward is lost", Component.NORMALISER),
        ),
    )


RUNG = Rung("value-from-observation", "a value that depends on the observation", OBSERVED, "value", answers, (0, 1),
            needs=("constant-value",))  # fmt: skip


@check(
    "PRB002",
    "value-ignores-observation",
    link=Link.CRITIC,
    component=Component.VALUE,
    fix="Print the shapes of prediction and target in the value loss; both must be the same.",
    severity=Severity.ERROR,
    explained_by=("value-not-learned",),
)
def look(trial: Trial) -> Answer:
    """The values of two states with different rewards are not told apart.

    **What is measured.** Two states, one step each, rewards -1 and 1. V must be -1 and 1.

    **Why it hurts.** A critic that returns the mean makes every advantage the bare return.

    **Usual causes.** Prediction [B, 1] minus target [B] broadcasts to [B, B], so every row is fitted to the mean; the
    network gets a constant or a wrongly normalised observation; rows of the batch are shuffled against each other.

    **What to try.** Assert equal shapes in the value loss; overfit a batch of two rows.

    **When it is harmless.** Never.

    References: Jones 2021, "Debugging reinforcement learning systems" (the second probe).
    """
    return judge(trial, RUNG)
