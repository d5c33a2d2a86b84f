"""TPR010: a reward that says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..model import Policy
from ..rung import Mistake, State, TokenRung
from ..task import TokenTask
from ..trial import TokenTrial, judge

MOVED = 0.6
"""Total variation. Rungs with a signal move 0.85 or more in as many steps, a critic's noise 0.1 to 0.4 (GRPO: 0)."""


def task() -> TokenTask:
    """Pay everything."""
    return TokenTask("constant-reward", lambda prompt, completion: 1.0, longest=3)


def read(now: Policy, then: Policy, task: TokenTask) -> Mapping[str, float]:
    """How far the first token's distribution moved, and how its end token did."""
    moved, ends = 0.0, 0.0
    for prompt in task.prompts:
        one, other = now.first(prompt), then.first(prompt)
        width = min(len(one), len(other))
        moved += float((one[:width] - other[:width]).abs().sum()) / 2
        ends += float(one[task.end_id] - other[task.end_id])
    return {"moved": moved / len(task.prompts), "end_change": ends / len(task.prompts)}


def state(numbers: Mapping[str, float]) -> State:
    """Right while nothing moves; a second look is worth it at the edge only."""
    if numbers["moved"] <= MOVED:
        return "right"
    return "wrong" if numbers["moved"] > 0.85 else "approaching"


def mistake(numbers: Sequence[Mapping[str, float]]) -> Mistake:
    """What moves a policy that nobody rewards."""
    if numbers[-1]["end_change"] > 0.3:
        return Mistake("without a signal completions end at once")
    return Mistake("the policy moves without a signal: is there a baseline?")


RUNG = TokenRung(
    "constant-reward", "nothing: all rewards are equal", task, read, state, mistake, "at most 0.6", "moved"
)


@check(
    "TPR010",
    "constant-reward-moves-policy",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    fix="Subtract a baseline from the reward, and give a group without spread no advantage.",
    severity=Severity.ERROR,
)
def look(trial: TokenTrial) -> Answer:
    """With the same reward for every completion the policy moves all the same.

    **What is measured.** Every completion earns 1. The mean distance (total variation) between the
    distributions of the first token at the start and at the end.

    **Why it hurts.** What moves the policy without any signal moves it under every other reward too: entropy,
    length and style drift by themselves.

    **Usual causes.** no baseline; a division by a standard deviation of 0; an entropy or KL term of the wrong
    sign; weight decay that is too strong.

    **What to try.** Train on a constant reward and watch the entropy.

    **When it is harmless.** With a value head that starts far off, a little: it makes noise that normalising
    blows up.
    """
    return judge(trial, RUNG)
