"""The check `agent-left-out`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN003",
    "agent-left-out",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Return every live agent in every dictionary.",
)
def look(world: World) -> Answer:
    """A live agent is missing from what a parallel environment returns.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        The trainer indexes by agent: it crashes, or silently reuses old values for the one that is missing.

    Usual causes:
        Dictionaries built from a list that is updated too early; a branch that skips one agent.

    What to try:
        Build every dictionary from self.agents as it was before the step.

    When it is harmless:
        An agent that ends and leaves all dictionaries together is right.

    References:
        PettingZoo, test/parallel_test.py.
    """
    trouble = first_trouble(world, "agent-left-out")
    if trouble is None:
        return None
    return told(world, "agent-left-out", trouble, trouble.message, "complaint")
