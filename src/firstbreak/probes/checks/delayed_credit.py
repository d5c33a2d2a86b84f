"""PRB023: an action that pays two steps later."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import DELAYED
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong, target_maker
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """The second action: g^2 against 0.1 at once (worth it for every g above 0.32)."""
    del gamma
    says = "the small reward at once wins: later rewards do not count"
    return Answers((1.0,), (Wrong((0.0,), says, target_maker(has_q)),))


RUNG = Rung(
    "delayed-credit",
    "an action that pays later",
    DELAYED,
    "choice",
    answers,
    (0,),
    gamma=0.9,
    effort=1.5,
    needs=("bandit-action",),
)


@check(
    "PRB023",
    "credit-not-delayed",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    fix="Check that later rewards reach the action: gamma, lambda, the order of the recursion.",
    severity=Severity.ERROR,
    explained_by=(
        "best-action-not-found",
        "discount-wrong",
    ),
)
def look(trial: Trial) -> Answer:
    """An action that pays two steps later is not preferred to one that pays a little at once.

    **What is measured.** The first action of an episode pays 0.1 at once or leads to 1 two steps later.

    **Why it hurts.** The agent is short-sighted whatever gamma says.

    **Usual causes.** Advantages summed forwards in the place of backwards; the trace cut at each step; targets that
    hold the reward alone.

    **What to try.** Compute the advantages of one episode by hand.

    **When it is harmless.** With gamma below 0.32, where the small reward is worth more.

    References: Schulman et al. 2015, arXiv 1506.02438.
    """
    return judge(trial, RUNG)
