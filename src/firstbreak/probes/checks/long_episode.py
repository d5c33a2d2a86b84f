"""PRB005: an episode that is longer than any rollout."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import ENDLESS
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong, target_maker
from ..ladder.trial import Trial

PHASES = 8


def cut(gamma: float, share: float) -> tuple[float, ...]:
    """Values when `share` of the rows of the last phase get no bootstrap: rollouts of 8/share steps end there."""
    g = gamma
    around = 0.5 * (1 - g**PHASES) / (1 - g)
    first = around / (1 - (1 - share) * g**PHASES)
    values = [0.5 + g * (1 - share) * first]
    for _ in range(PHASES - 1):
        values.append(0.5 + g * values[-1])
    return tuple(reversed(values))


def answers(gamma: float, has_q: bool) -> Answers:
    """V = 0.5 / (1 - g) in every phase; lower before the end of a batch that is not bootstrapped."""
    where = target_maker(has_q)
    says = "the last row of a rollout is not bootstrapped"
    shares = (1.0, 0.5, 0.25)
    return Answers(
        (0.5 / (1 - gamma),) * PHASES,
        (
            Wrong((0.5,) * PHASES, "nothing is bootstrapped", where),
            *(Wrong(cut(gamma, f), says, where) for f in shares),
        ),
    )


RUNG = Rung(
    "long-episode",
    "a batch that ends inside an episode",
    ENDLESS,
    "value",
    answers,
    tuple(range(PHASES)),
    gamma=0.75,
    endless=True,
    effort=1.5,
    needs=("discounting",),
)


@check(
    "PRB005",
    "batch-end-not-bootstrapped",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    fix="Bootstrap the last row of a rollout with the value of the observation after it.",
    severity=Severity.ERROR,
    explained_by=(
        "value-not-learned",
        "value-ignores-observation",
        "discount-wrong",
    ),
)
def look(trial: Trial) -> Answer:
    """The value inside an episode that never ends is not that of an endless sum.

    **What is measured.** Eight states in a ring, 0.5 at each step, no end. V must be 0.5/(1 - gamma) everywhere. With a
    rollout length that is a multiple of eight, as most are, batches end in the same state and the loss shows there.

    **Why it hurts.** The end of each rollout looks like the end of the world. Short rollouts suffer most; with a
    rollout many horizons long the effect vanishes and this rung cannot see it.

    **Usual causes.** A zero where V(next) of the last row belongs; a trainer that waits for episodes to end.

    **What to try.** Compare the advantage of the last row with one computed by hand.

    **When it is harmless.** When rollouts are always whole episodes.

    References: Schulman et al. 2015, arXiv 1506.02438, section 3.
    """
    return judge(trial, RUNG)
