"""The check `instances-share-state`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..neighbours import neighbours_of
from ..recorded import NOTHING
from ..trying import tried
from ..world import World


@check(
    "PEN080",
    "instances-share-state",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Keep what step changes on the instance, and give each instance a connection to the simulator of its own.",
    explained_by=("step-not-reproducible", "reset-not-reproducible", "global-rng-decides"),
)
def look(world: World) -> Answer:
    """Two instances of the environment move one world: what one does shows in the other.

    What is measured:
        One seed and list of actions, played alone, alone again, and in turn with a second instance that plays other
        actions from another seed. The first two must agree; the third must agree with them.

    Why it hurts:
        Copies in one process, or an evaluation beside the training, disturb each other: transitions are mixed up, and
        no single environment shows it.

    Usual causes:
        State in a class attribute, in a mutable default argument or in a module; a simulator that is reached without
        the number of its connection.

    What to try:
        Make the state an attribute that the constructor sets; pass the connection to every call.

    When it is harmless:
        With one instance per process.

    References:
        Python, "class and instance variables".
    """
    if not world.episodes:
        return NOTHING
    found = tried(lambda: neighbours_of(world))
    if isinstance(found, Skip):
        return found
    if found is None or not found.repeats:
        return Skip("plays cannot be repeated", ("a reproducible environment",))
    at = found.parted
    if at is None:
        return None
    return Symptom(
        f"the same seed and actions lead elsewhere at step {at} when a second instance plays beside it",
        "step",
        {"step": at, "steps": len(found.alone[1])},
        at=Onset(at, at, "env_steps"),
    )
