"""PRB009: rewards that are larger than one."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import SCALED
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """V = (-5, 5); clipped or normalised rewards give (-1, 1)."""
    del gamma, has_q
    link = Link.REWARD_SIGNAL
    return Answers(
        (-5.0, 5.0),
        (
            Wrong((-1.0, 1.0), "rewards are clipped or normalised to 1", Component.REWARD, link),
            Wrong((-0.2, 0.2), "values are clipped around a fixed number", Component.VALUE),
            Wrong((0.0, 0.0), "rewards are averaged over the batch", Component.NORMALISER, link),
            Wrong((0.0, 10.0), "rewards are shifted by their minimum", Component.NORMALISER, link),
        ),
    )


RUNG = Rung(
    "reward-scale",
    "rewards larger than one",
    SCALED,
    "value",
    answers,
    (0, 1),
    effort=1.5,
    needs=("value-from-observation",),
)


@check(
    "PRB009",
    "reward-scale-lost",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Look for a clip or a normaliser between the environment's reward and the target.",
    severity=Severity.ERROR,
    explained_by=(
        "value-not-learned",
        "value-ignores-observation",
    ),
)
def look(trial: Trial) -> Answer:
    """Rewards of -5 and 5 do not arrive as -5 and 5.

    **What is measured.** Two states with one step each, rewards -5 and 5. V must be -5 and 5.

    **Why it hurts.** With rewards clipped to one, a large gain and a small one count the same.

    **Usual causes.** Reward clipping left over from Atari; a running normaliser; a value clip around zero.

    **What to try.** Print the smallest and largest reward as the loss sees it.

    **When it is harmless.** When clipping or normalising is meant. Then read values in the trainer's own unit and
    ignore this finding with that reason.

    References: Mnih et al. 2015 (clipping, on purpose); Andrychowicz et al. 2020, arXiv 2006.05990 (value clipping).
    """
    return judge(trial, RUNG)
