"""The check `episodes-repeated`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..record import Record

MANY = 0.05
"""Share of repeats where numbers are real: there one is no chance any more. Engineering default."""
MANY_BY_CHANCE = 0.5
"""Where short episodes meet by chance. Engineering default."""


@check(
    "TRJ002",
    "episodes-repeated",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    fix="Reset with another seed each episode, and look whether the file was written twice.",
)
def look(record: Record) -> Answer:
    """Episodes repeat one another, number for number.

    What is measured:
        Episodes that equal an earlier one in every observation, action and reward: more than 5 %, at least two. Where
        such repeats come by chance (states that are counted, or one start and few actions) more than half, and then
        it is a note for counted states.

    Why it hurts:
        Thirty copies are one sample: returns look more certain than they are, and the policy is fitted to one path.

    Usual causes:
        reset(seed=0) in every episode; all copies of a vector environment seeded alike; a file appended to itself.

    What to try:
        Compare the first observation of ten episodes.

    When it is harmless:
        A deterministic policy in a deterministic world with one start: one episode says it all.
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    repeated, n = record.summary.repeated, record.n
    starts = {one.observations[0].tobytes() for one in record.wide if len(one.observations)}
    by_chance = record.blind or record.counted or (len(starts) == 1 and all(one.discrete for one in record.drawn))
    if repeated < max(2, (MANY_BY_CHANCE if by_chance else MANY) * n):
        return None
    return Symptom(
        f"{repeated:,} of {n:,} episodes equal an earlier one; {len(starts):,} unlike first observations",
        "episodes",
        {
            "repeated": repeated,
            "episodes": n,
            "most_repeats": record.summary.most_repeats,
            "unlike_starts": len(starts),
        },
        severity=Severity.INFO if record.counted else None,
    )
