"""The check `observation-features-dead`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..record import Record


@check(
    "TRJ006",
    "observation-features-dead",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    fix="Print the observation of three steps beside the inner state.",
)
def look(record: Record) -> Answer:
    """Features of the observation never change, in no step and no episode.

    What is measured:
        Features with one value only in all steps of all episodes. All of them: a warning; some: a note.

    Why it hurts:
        What is not seen cannot be acted on; a normaliser divides by their spread of zero.

    Usual causes:
        A buffer that is never filled; contact forces that a simulator's version leaves at zero; features of another
        task.

    What to try:
        Move the thing that the feature should show, and print it.

    When it is harmless:
        A goal or a mass that is fixed in this task; states on one-hot features that are never met; a bandit.
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    width = record.states.shape[1]
    dead = record.summary.dead_observations
    if not width:
        return Skip("no observations of numbers are stored", ("observations",))
    if not dead:
        return None
    all_dead = len(dead) == width and bool((record.summary.lengths_steps > 1).any())
    return Symptom(
        f"{len(dead):,} of {width:,} features of the observation never change; the first is number {dead[0]}",
        f"observation[{dead[0]}]",
        {"dead": len(dead), "features": width},
        severity=Severity.WARNING if all_dead else Severity.INFO,
    )
