"""PRB022: two action dimensions that must move in opposite directions."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import DIMENSIONS
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """The best action is (3, -3) in bounds [-2, 4] and [-4, 2]."""
    del gamma, has_q
    link, loss = Link.POLICY_UPDATE, Component.LOSS
    return Answers(
        (3.0, -3.0),
        (
            Wrong((1.0, -1.0), "actions in [-1, 1] are not rescaled to the bounds", Component.SAMPLER, link),
            Wrong((3.0, 0.0), "only the first action dimension is learned", loss, link),
            Wrong((0.0, -3.0), "only the last action dimension is learned", loss, link),
            Wrong((0.0, 0.0), "no action dimension is learned", loss, link),
            Wrong((-2.0, 2.0), "the policy loss has the wrong sign", loss, link),
        ),
    )


def discrete() -> Answers:
    """The best of two and the best of three: (1, 2)."""
    link, loss = Link.POLICY_UPDATE, Component.LOSS
    second = "only the first action dimension is learned"
    return Answers(
        (1.0, 2.0),
        (
            Wrong((1.0, 1.0), second, loss, link),
            Wrong((1.0, 0.0), second, loss, link),
            Wrong((0.0, 2.0), "only the last action dimension is learned", loss, link),
        ),
    )


RUNG = Rung(
    "action-dimensions",
    "more than one action dimension, in bounds of its own",
    DIMENSIONS,
    "action",
    answers,
    (0,),
    closeness_frac=0.45,
    effort=1.5,
    needs=("bandit-action",),
    discrete=discrete,
)


@check(
    "PRB022",
    "action-dimension-not-learned",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    fix="Sum the log-prob over action dimensions; rescale squashed actions to the bounds of the space.",
    severity=Severity.ERROR,
    explained_by=("best-action-not-found",),
)
def look(trial: Trial) -> Answer:
    """With two action dimensions, the trained action is not the best one.

    **What is measured.** One state. Continuous: the reward falls with the distance to (3, -3) in bounds [-2, 4] and
    [-4, 2]. Discrete: the right choice of two and of three. The deterministic action must be near.

    **Why it hurts.** A dimension that is not learned stays at its noise; squashed actions that are not rescaled never
    leave the middle of the range.

    **Usual causes.** The log-prob of the first dimension only; tanh without rescaling; bounds of one dimension used for
    all.

    **What to try.** Log mean and spread of each dimension against its bounds.

    **When it is harmless.** Never.

    References: own.
    """
    return judge(trial, RUNG)
