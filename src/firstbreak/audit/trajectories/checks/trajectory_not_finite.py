"""The check `trajectory-not-finite`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..record import Record


@check(
    "TRJ001",
    "trajectory-not-finite",
    link=Link.NUMERICS,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Find the step that writes it, and end the episode with an error there.",
)
def look(record: Record) -> Answer:
    """A reward, an observation or an action is not a finite number.

    What is measured:
        Episodes with a NaN or an infinity among their rewards, observations or actions.

    Why it hurts:
        One such number in a batch makes the loss, and with it every weight, NaN.

    Usual causes:
        A simulator that blew up; a division by a spread of zero in a normaliser; a logarithm of zero in the reward.

    What to try:
        Step the environment with the recorded actions up to that row, and print what the number is made of.

    When it is harmless:
        NaN as a mark for a missing entry that the trainer masks.
    """
    bad = {name: count for name, count in record.not_finite.items() if count}
    if not record.n:
        return too_few(record)
    if not bad:
        return None
    where = max(bad, key=lambda name: (name == "reward", bad[name]))
    return Symptom(
        f"{where}s are not finite in {bad[where]:,} of {record.n:,} episodes",
        where,
        {**{f"{name}_episodes": count for name, count in bad.items()}, "episodes": record.n},
    )
