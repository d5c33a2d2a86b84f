"""The check `state-leaks-between-episodes`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..differences import first_difference
from ..recorded import NOTHING
from ..starts import histories_of
from ..trying import tried
from ..twins import twins_of
from ..world import World


@check(
    "PEN021",
    "state-leaks-between-episodes",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Set every attribute that step changes again in reset.",
    explained_by=(
        "reset-not-reproducible",
        "starts-drift",
        "step-not-reproducible",
    ),
)
def look(world: World) -> Answer:
    """An episode depends on the one before it: the same seed and actions lead elsewhere after a history.

    What is measured:
        One list of actions from one seed, in a fresh environment and in one that has played an episode before; where
        the first difference is.

    Why it hurts:
        Episodes are no independent samples: the return depends on the policy of the past, and a single failure
        poisons what follows.

    Usual causes:
        A part of the state that reset forgets: velocity, a counter, a window of past actions, a cache.

    What to try:
        Set every attribute that step changes in reset.

    When it is harmless:
        A declared persistent world.

    References:
        Failure modes R26; DACBench issue 94; banana-gym issue 4.
    """
    if not world.episodes:
        return NOTHING
    twins = tried(lambda: twins_of(world))
    if isinstance(twins, Skip):
        return twins
    if any(t.again is not None for t in twins):
        return Skip("plays cannot be repeated", ("a reproducible environment",))
    histories = tried(lambda: histories_of(world))
    if isinstance(histories, Skip):
        return histories
    for one in histories:
        found = first_difference(one.fresh, one.after, world.dimensions)
        if found is not None:
            place = "first observation" if found.step == 0 else f"step {found.step}"
            return Symptom(
                f"after {one.before_steps} steps of history the same seed leads elsewhere: {found.text}, {place}"[:120],
                found.where,
                {"step": found.step, "fresh": found.one, "later": found.other, "history_steps": one.before_steps},
                at=Onset(found.step, found.step, "env_steps"),
            )
    return None
