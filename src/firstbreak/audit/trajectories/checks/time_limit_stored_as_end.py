"""The check `time-limit-stored-as-end`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..gate import too_few
from ..record import Record

FEWEST, SHARE = 5, 0.1
"""Episodes at the greatest length, and their share. Engineering default."""
SHORTEST_LIMIT, NEAR_STEPS = 20, 5
"""Steps: time limits are longer than the shortest ways to a goal; lengths beside the greatest. Engineering default."""


@check(
    "TRJ009",
    "time-limit-stored-as-end",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    fix="Store what the time limit cuts as truncated, and bootstrap from its last observation.",
)
def look(record: Record) -> Answer:
    """Episodes of the greatest length are stored as ended by themselves.

    What is measured:
        Episodes that are terminated, not truncated, and exactly as long as the longest (20 steps or more): at least
        five, a tenth of all, three times as many as at any length just below; and their last observations differ.

    Why it hurts:
        The value of the state at the limit is learnt as zero though the task goes on there.

    Usual causes:
        The old four-tuple of step with done at the limit; terminated or truncated merged before they are stored.

    What to try:
        Look at the last observation of such an episode: has anything ended there?

    When it is harmless:
        A horizon that is part of the task and seen in the observation (Pardo et al. 2018, arXiv 1712.00378).
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    ended = (record.terminated == 1) & (record.truncated != 1)
    if (record.terminated < 0).all():
        return Skip("it is not stored how episodes ended", ("terminated", "truncated"))
    lengths = record.summary.lengths_steps
    longest = int(lengths.max())
    at = int((ended & (lengths == longest)).sum())
    below = [int((lengths == longest - k).sum()) for k in range(1, NEAR_STEPS + 1)]
    if longest < SHORTEST_LIMIT or at < max(FEWEST, SHARE * record.n) or at <= 3 * max(below):
        return None
    last = {one.observations[-1].tobytes() for one in record.wide if one.steps == longest and one.terminated}
    if not last:
        return Skip(f"{at:,} episodes end after {longest:,} steps; where, is not stored", ("observations",), True)
    if len(last) == 1:
        return None
    return Symptom(
        f"{at:,} of {record.n:,} episodes end by themselves after exactly {longest:,} steps, the greatest length",
        "terminated",
        {"at_limit": at, "episodes": record.n, "limit_steps": longest, "just_below": max(below)},
    )
