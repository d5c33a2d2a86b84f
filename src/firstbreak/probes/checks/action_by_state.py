"""PRB021: another action in each of two states."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import BY_STATE
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """The first action in the first state, the second in the second."""
    del gamma, has_q
    policy = Link.POLICY_UPDATE
    return Answers(
        (0.0, 1.0),
        (
            Wrong((1.0, 0.0), "rows are shifted: the action of another state is credited", Component.ROLLOUT, policy),
            Wrong((0.0, 0.0), "the policy does not use the observation", Component.LOSS, policy),
            Wrong((1.0, 1.0), "the policy does not use the observation", Component.LOSS, policy),
        ),
    )


RUNG = Rung("action-by-state", "an action that depends on the state", BY_STATE, "choice", answers, (0, 1),
            needs=("bandit-action",))  # fmt: skip


@check(
    "PRB021",
    "policy-ignores-state",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    fix="Check that observation, action and advantage of a row belong to the same step.",
    severity=Severity.ERROR,
    explained_by=("best-action-not-found",),
)
def look(trial: Trial) -> Answer:
    """The trained policy does not choose the right action in each of two states.

    **What is measured.** Two states with one step each; the right action differs.

    **Why it hurts.** A policy that cannot tell states apart is a bandit.

    **Usual causes.** Rows of observations, actions and advantages out of step; advantages averaged over the batch by
    broadcasting; observations normalised away; a shared trunk that the critic dominates.

    **What to try.** Train on a batch of two rows, one per state, and print both log-probs.

    **When it is harmless.** Never.

    References: Jones 2021, "Debugging reinforcement learning systems" (the fifth probe).
    """
    return judge(trial, RUNG)
