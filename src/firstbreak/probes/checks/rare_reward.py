"""PRB024: a rare large reward against a sure small one."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import RARE
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """The gamble: 1 in one case of four is 0.25 on average, against a sure 0.125."""
    del gamma, has_q
    says = "the size of rewards or advantages is lost, only the sign counts"
    return Answers((1.0,), (Wrong((0.0,), says, Component.ADVANTAGE),))


RUNG = Rung(
    "rare-reward", "advantages whose size counts", RARE, "choice", answers, (0,), effort=2.0, needs=("bandit-action",)
)


@check(
    "PRB024",
    "advantage-size-lost",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    fix="Normalise advantages over the whole batch, never over pairs or rows.",
    severity=Severity.ERROR,
    explained_by=(
        "best-action-not-found",
        "reward-scale-lost",
        "noisy-reward-biased",
    ),
)
def look(trial: Trial) -> Answer:
    """A rare large reward is not preferred to a smaller sure one.

    **What is measured.** One action pays 0.125, the other 1 in one case of four, which is 0.25 on average.

    **Why it hurts.** The agent maximises how often it wins, not how much.

    **Usual causes.** Advantages standardised over tiny groups, so that each becomes plus or minus one; a median
    where a mean belongs.

    **What to try.** Print advantages of a batch before and after normalising.

    **When it is harmless.** When risk is to be avoided on purpose.

    References: own.
    """
    return judge(trial, RUNG)
