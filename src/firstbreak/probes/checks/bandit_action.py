"""PRB020: the best of three actions in one state."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import BANDIT
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """The last cell pays, the first pays least."""
    del gamma, has_q
    policy = Link.POLICY_UPDATE
    return Answers(
        (2.0,),
        (
            Wrong(
                (0.0,), "the policy loss has the wrong sign, or rows and actions do not match", Component.LOSS, policy
            ),
            Wrong((1.0,), "rewards and actions are paired wrongly", Component.LOSS, policy),
        ),
    )


RUNG = Rung("bandit-action", "an action that pays", BANDIT, "choice", answers, (0,))


@check(
    "PRB020",
    "best-action-not-found",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    fix="Check the sign of the policy loss, and that the log-prob (or Q) is that of the stored action.",
    severity=Severity.ERROR,
)
def look(trial: Trial) -> Answer:
    """In one state with one paying action, the trained policy does not choose it.

    **What is measured.** One state, one step. Discrete: the third of three actions pays 1. Continuous: the pay rises
    with the action. The deterministic action must be right and drawn actions better than chance.

    **Why it hurts.** Nothing that depends on the policy update can work.

    **Usual causes.** Wrong sign; a gradient that is detached; the actor missing from the optimiser; log-probs of newly
    drawn actions; Q gathered at another action; no exploration, so that the paying action was never tried.

    **What to try.** On one batch: a positive advantage must raise the log-prob of its action.

    **When it is harmless.** Never.

    References: Jones 2021, "Debugging reinforcement learning systems" (the fourth probe).
    """
    return judge(trial, RUNG)
