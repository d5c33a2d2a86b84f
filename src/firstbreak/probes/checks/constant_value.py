"""PRB001: the value of one state that always pays 1."""

from __future__ import annotations

from ...check import Answer, check
from ...finding import Component, Link, Severity
from ..environments.factories import CONSTANT
from ..ladder.judging import judge
from ..ladder.rung import Answers, Rung, Wrong, target_maker
from ..ladder.trial import Trial


def answers(gamma: float, has_q: bool) -> Answers:
    """V = 1; each mistake has a fixed point of its own."""
    return Answers(
        (1.0,),
        (
            Wrong((0.0,), "the critic does not learn at all", Component.VALUE),
            Wrong((1.0 / (1.0 - gamma),), "the bootstrap is not cut at termination", target_maker(has_q)),
            Wrong((0.5,), "the value target is the advantage, without + V", target_maker(has_q)),
            Wrong((gamma,), "the reward itself is discounted once", target_maker(has_q)),
            Wrong((-1.0,), "the sign of the reward or of the target is wrong", target_maker(has_q)),
        ),
    )


RUNG = Rung("constant-value", "a value that is learned at all", CONSTANT, "value", answers, (0,))


@check(
    "PRB001",
    "value-not-learned",
    link=Link.CRITIC,
    component=Component.VALUE,
    fix="Check that the value loss reaches the critic's parameters and that the optimiser holds them.",
    severity=Severity.ERROR,
)
def look(trial: Trial) -> Answer:
    """The value of a state that always pays 1 is not 1.

    **What is measured.** One state, one step, reward 1, then termination. V (or Q of every action) must be 1.

    **Why it hurts.** No advantage and no target is right while the critic is wrong about a constant.

    **Usual causes.** The critic is missing from the optimiser, its loss is multiplied by zero or detached, its target
    is the advantage alone (V = 0.5), or the bootstrap goes on after termination (V = 1/(1 - gamma)).

    **What to try.** Fit the critic alone on one stored batch; its loss must fall to zero.

    **When it is harmless.** Never.

    References: Jones 2021, "Debugging reinforcement learning systems" (the first probe).
    """
    return judge(trial, RUNG)
