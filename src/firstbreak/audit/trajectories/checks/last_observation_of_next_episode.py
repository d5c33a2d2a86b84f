"""The check `last-observation-of-next-episode`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import no_states, too_few
from ..record import Record

FEWEST, SHARE = 5, 0.9
"""Last observations that equal the next first one, and their share. Engineering default."""


@check(
    "TRJ012",
    "last-observation-of-next-episode",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Take the last observation from before the reset (`final_observation` of the info).",
)
def look(record: Record) -> Answer:
    """The observation after the last step is the first one of the next episode.

    What is measured:
        Where T + 1 observations are stored: how many last ones equal the first of the episode behind, at least five
        and nine of ten.

    Why it hurts:
        A cut episode is then valued by a fresh start instead of the state that it was cut in.

    Usual causes:
        A vector environment that resets by itself and returns the new observation in the same step.

    What to try:
        Print the last two observations of an episode: the step between them is no jump.

    When it is harmless:
        A world without a reset, where one episode begins where the last one ended.
    """
    skip = too_few(record) or no_states(record)
    if skip is not None:
        return skip
    if record.followed < FEWEST:
        return Skip("no observation after the last step is stored")
    firsts = {one.observations[0].tobytes() for one in record.wide if len(one.observations)}
    if record.handed_over < SHARE * record.followed or len(firsts) == 1:
        return None
    return Symptom(
        f"{record.handed_over:,} of {record.followed:,} last observations equal the first of the next episode",
        "observation",
        {"equal": record.handed_over, "episodes": record.followed},
    )
