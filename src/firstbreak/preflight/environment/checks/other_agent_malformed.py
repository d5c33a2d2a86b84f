"""The check `other-agent-malformed`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity, Skip
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN078",
    "other-agent-malformed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Mend what this agent is given; name a factory with this agent first to have it looked at whole.",
)
def look(world: World) -> Answer:
    """An agent beside the first gets an observation, reward or flag that breaks the contract or is not finite.

    What is measured:
        Every reset and step of the recording of a parallel environment, for each agent but the first: type and shape
        of its observation, bounds passed by more than a tenth of their range, NaN and infinity, rewards that are no
        finite number, flags that are no booleans.

    Why it hurts:
        Agents often share one network: what one of them is given reaches the weights of all.

    Usual causes:
        An index that is off for the last agent; a division by the distance to oneself; an agent added to the lists and
        forgotten in one of the dictionaries.

    What to try:
        Replay the actions of the evidence and print this agent's share of each dictionary.

    When it is harmless:
        Never. Statistics (dead entries, hidden state, what actions do) are made of the first agent only.

    References:
        PettingZoo, test/parallel_test.py, which lets NaN rewards pass.
    """
    if world.kind != "parallel":
        return Skip("there is one agent only")
    trouble = first_trouble(world, "other-agent-malformed")
    if trouble is None:
        return None
    return told(world, "other-agent-malformed", trouble, trouble.message, "complaint")
