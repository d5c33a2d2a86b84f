"""The check `observation-constant`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of
from ..recorded import NOTHING
from ..world import World


@check(
    "PEN043",
    "observation-constant",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Make step build the observation from the current state.",
)
def look(world: World) -> Answer:
    """The whole observation never changes, in no step and no episode.

    What is measured:
        Every entry of every recorded observation against the first one.

    Why it hurts:
        The policy sees nothing: it can only learn one fixed distribution of actions, and the value one number.

    Usual causes:
        A buffer that is returned but never filled; the reset observation returned by step; a stale copy; a normaliser
        that divides by infinity.

    What to try:
        Print the observation of three steps beside the inner state, and look where the copy is made.

    When it is harmless:
        A bandit: episodes of one step, or a space that declares a single value. Then it is a note or nothing.

    References:
        Gymnasium's and SB3's check_env, which both let it pass.
    """
    if not world.episodes:
        return NOTHING
    columns = columns_of(world)
    if columns.rows < 3 or not columns.constant.all():
        return None
    if bool((columns.low == columns.high).all()):
        return Skip("the observation space declares a single value")
    bandit = max(e.length for e in world.episodes) <= 1
    return Symptom(
        f"the observation is the same in all {columns.rows} rows of {len(world.episodes)} episodes, all "
        f"{columns.count} entries",
        "observation",
        {"rows": columns.rows, "columns": columns.count, "episodes": len(world.episodes)},
        severity=Severity.INFO if bandit else None,
    )
