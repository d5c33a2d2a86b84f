"""PRB008: several copies of an environment, of which half pay."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import COPIES
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong, target_maker
from ..ladder.trial import Trial


def leaks(gamma: float, share: float) -> tuple[float, ...]:
    """Values when `share` of the rows of the last of four phases bootstrap from the other copy."""
    g, sums = gamma, (0.0, 0.5 * (1 - gamma**4) / (1 - gamma))
    stays, goes = g**4 * (1 - share), g**4 * share
    poor = (sums[0] * (1 - stays) + goes * sums[1]) / ((1 - stays) ** 2 - goes**2)
    rich = (sums[1] * (1 - stays) + goes * sums[0]) / ((1 - stays) ** 2 - goes**2)
    values: list[float] = []
    for reward, own, other in ((0.0, poor, rich), (0.5, rich, poor)):
        row = [reward + g * ((1 - share) * own + share * other)]
        for _ in range(3):
            row.append(reward + g * row[-1])
        values += reversed(row)
    return tuple(values)


def answers(gamma: float, has_q: bool) -> Answers:
    """V = 0 in the copies that pay nothing and 0.5 / (1 - g) in the others."""
    g, where = gamma, target_maker(has_q)
    full = 0.5 / (1 - g)
    edge = "the end of one environment runs into the start of the next"
    return Answers(
        (0.0,) * 4 + (full,) * 4,
        (
            Wrong((full / 2,) * 8, "rewards of several environments are averaged", Component.ROLLOUT),
            Wrong((full,) * 4 + (0.0,) * 4, "rewards of several environments are exchanged", Component.ROLLOUT),
            Wrong(
                (g * full / (1 + g),) * 4 + (full / (1 + g),) * 4,
                "rows of different environments follow each other",
                where,
            ),
            *(Wrong(leaks(g, share), edge, where) for share in (1.0, 0.5, 0.25)),
        ),
    )


RUNG = Rung(
    "several-copies",
    "rows of several environments kept apart",
    COPIES,
    "value",
    answers,
    tuple(range(8)),
    gamma=0.75,
    endless=True,
    effort=1.5,
    needs=("discounting", "long-episode"),
    concerns="several_copies",
)


@check(
    "PRB008",
    "environments-mixed",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    fix="Compute advantages on [T, E] before flattening; permuting environments must only permute them.",
    severity=Severity.ERROR,
    explained_by=(
        "value-not-learned",
        "value-ignores-observation",
        "discount-wrong",
        "batch-end-not-bootstrapped",
    ),
)
def look(trial: Trial) -> Answer:
    """Values of one environment leak into those of another.

    **What is measured.** Every second copy of the environment pays 0.5 at each step, the others nothing; which one it
    is can be seen. V must be 0.5/(1 - gamma) and 0.

    **Why it hurts.** Credit goes to actions that another environment took.

    **Usual causes.** A batch [T, E] reshaped to one axis before advantages are computed, or reshaped in the wrong
    order; one bootstrap value for all environments.

    **What to try.** Permute the environments of a stored rollout; the advantages must permute with them.

    **When it is harmless.** With one environment; then the rung does not concern the trainer.

    References: own.
    """
    return judge(trial, RUNG)
