"""The check `autoreset-not-as-declared`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..copies import copies_of, seen_mode
from ..trying import tried
from ..world import World


@check(
    "PEN027",
    "autoreset-not-as-declared",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Declare the mode that it follows, or follow the declared one.",
)
def look(world: World) -> Answer:
    """A vector environment resets its copies in another way than its metadata declare.

    What is measured:
        Whether the observation at an end, or the one after it, is back among the starts; against
        metadata["autoreset_mode"].

    Why it hurts:
        Trainers decide by the declaration which row to leave out: the wrong row is left out at every end, and an
        invented one is learned from.

    Usual causes:
        A wrapper that changes the mode; metadata copied from another version.

    What to try:
        Declare what it does: metadata["autoreset_mode"].

    When it is harmless:
        Never.

    References:
        Gymnasium 1.1, AutoresetMode; cleanrl issue 499; failure modes R15.
    """
    if world.kind != "vector":
        return Skip("not a vector environment")

    copies = tried(lambda: copies_of(world))
    if isinstance(copies, Skip):
        return copies
    seen = seen_mode(world, copies)
    if not seen:
        return Skip("too few ends, or starts that cannot be told from other states", ("longer recording",))
    if seen == "never" or copies.mode == "disabled":
        return None
    if not copies.mode:
        return Symptom(
            f"no autoreset mode is declared; {len(copies.ends)} ends look like {seen}",
            "metadata",
            {"ends": len(copies.ends), "seen": seen},
            severity=Severity.INFO,
        )
    if copies.mode == seen or (seen == "same_step") == (copies.mode == "same_step"):
        return None
    return Symptom(
        f"declared {copies.mode}, but {len(copies.ends)} ends show {seen}: one wrong row per episode",
        "metadata",
        {"ends": len(copies.ends), "declared": copies.mode, "seen": seen},
    )
