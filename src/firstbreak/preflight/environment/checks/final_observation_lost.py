"""The check `final-observation-lost`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..copies import copies_of, seen_mode
from ..trying import tried
from ..world import World

MOST_FRAC = 0.5


@check(
    "PEN028",
    "final-observation-lost",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Return the last observation as final_obs in info.",
    explained_by=("autoreset-not-as-declared",),
)
def look(world: World) -> Answer:
    """A vector environment resets in the same step and does not hand out the last observation of the episode.

    What is measured:
        At every end: whether info holds final_obs, and whether it differs from the observation returned, which
        belongs to the next episode.

    Why it hurts:
        The value at a time limit is bootstrapped from the first observation of another episode.

    Usual causes:
        The observation is stored after the reset; info is dropped by a wrapper.

    What to try:
        Keep the observation of the last step before resetting, as info["final_obs"].

    When it is harmless:
        No episode is ever truncated.

    References:
        Gymnasium 1.1, AutoresetMode.SAME_STEP; fault list E06, E12.
    """
    if world.kind != "vector":
        return Skip("not a vector environment")

    copies = tried(lambda: copies_of(world))
    if isinstance(copies, Skip):
        return copies
    ends = copies.ends
    if seen_mode(world, copies) != "same_step":
        return None
    given = [e for e in ends if e in copies.finals]
    if len(given) < len(ends) / 2:
        return Symptom(
            f"{len(ends) - len(given)} of {len(ends)} ends return the next episode's start and no final_obs",
            "info",
            {"ends": len(ends), "with_final": len(given)},
        )
    starts = sum(bool((copies.finals[e] == copies.observations[e]).all()) for e in given)
    if starts < MOST_FRAC * len(given):
        return None
    return Symptom(
        f"final_obs equals the next episode's start at {starts} of {len(given)} ends",
        "info",
        {"ends": len(ends), "final_is_start": starts},
    )
