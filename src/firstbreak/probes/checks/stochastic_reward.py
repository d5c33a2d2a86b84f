"""PRB010: the mean of a noisy reward."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import NOISY
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """V = 1, the mean of 1.75 and 0.25."""
    del gamma, has_q
    return Answers(
        (1.0,),
        (
            Wrong((1.75,), "the largest reward is learned, not the mean", Component.VALUE),
            Wrong((0.25,), "the smallest reward is learned, not the mean", Component.VALUE),
            Wrong((0.625,), "rewards are clipped to 1", Component.REWARD, Link.REWARD_SIGNAL),
        ),
    )


RUNG = Rung(
    "stochastic-reward",
    "a reward that is noisy",
    NOISY,
    "value",
    answers,
    (0,),
    closeness_frac=0.4,
    needs=("constant-value",),
)


@check(
    "PRB010",
    "noisy-reward-biased",
    link=Link.CRITIC,
    component=Component.VALUE,
    fix="Check that the target is a mean: no maximum over samples, no clipped or one-sided loss.",
    severity=Severity.ERROR,
    explained_by=("value-not-learned",),
)
def look(trial: Trial) -> Answer:
    """The value of a noisy reward is not its mean.

    **What is measured.** One step that pays 1.75 or 0.25 with equal chances. V must be 1.

    **Why it hurts.** A critic that learns the best case makes a gambler of the agent.

    **Usual causes.** A maximum over samples or over the batch; a one-sided loss; reward clipping.

    **What to try.** Fit the critic to a fixed batch of such rewards.

    **When it is harmless.** With a loss that is meant to be risk-seeking or -averse.

    References: van Hasselt et al. 2016, arXiv 1509.06461 (overestimation by maxima over noise).
    """
    return judge(trial, RUNG)
