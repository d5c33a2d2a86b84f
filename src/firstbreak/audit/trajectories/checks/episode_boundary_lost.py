"""The check `episode-boundary-lost`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..gate import no_states, too_few
from ..moving import jumps_to_a_start
from ..record import Record

FEWEST, SHARE = 2, 0.02
"""Episodes with such a jump, and their share. Engineering default."""


@check(
    "TRJ011",
    "episode-boundary-lost",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    fix="Store the flags of every end, and cut the buffer there.",
)
def look(record: Record) -> Answer:
    """Inside episodes the observation jumps back to where episodes start.

    What is measured:
        Steps that move a feature by five times what nine of ten steps stay within, and land inside the box of the
        first observations from outside it: in at least two and 2 % of the episodes.

    Why it hurts:
        Returns and advantages run over the reset, and pay one episode for what the next one did.

    Usual causes:
        A vector environment that resets by itself while its flags are dropped; buffers of several workers joined.

    What to try:
        Count the resets while recording, and compare with the number of episodes in the file.

    When it is harmless:
        A world that moves the agent back to the start as part of the task.
    """
    skip = too_few(record) or no_states(record)
    if skip is not None:
        return skip
    if record.counted:
        return Skip("the observations are whole numbers, whose distance means nothing")
    found = jumps_to_a_start(record)
    episodes, n = len({place for place, _ in found}), len(record.wide)
    if episodes < max(FEWEST, SHARE * n):
        return None
    return Symptom(
        f"{len(found):,} jumps back to the start inside {episodes:,} of {n:,} episodes",
        "observation",
        {"jumps": len(found), "episodes_with": episodes, "episodes": n, "first_at_step": found[0][1]},
    )
