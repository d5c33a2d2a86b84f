"""The check `reward-not-a-number`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN008",
    "reward-not-a-number",
    link=Link.ENVIRONMENT_DATA,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Return float(reward) on every path.",
)
def look(world: World) -> Answer:
    """The reward is not a scalar number.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        An array of shape (1,) broadcasts in the advantage, [N] against [N, 1] becomes [N, N]; None crashes or counts
        as 0.

    Usual causes:
        A reward computed with arrays and not taken out; a branch without return; a tensor.

    What to try:
        Return float(reward).

    When it is harmless:
        Never; a numpy scalar is a number.

    References:
        veins-gym issue 12; multiagent-particle-envs pull request 9.
    """
    trouble = first_trouble(world, "reward")
    if trouble is None:
        return None
    return told(world, "reward-not-a-number", trouble, f"the reward is {trouble.message}", "reward")
