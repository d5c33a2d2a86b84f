"""The check `reward-part-dead`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..parts import EVENT, usable_parts
from ..sample import RewardSample

LEAST_ROWS = 200
LEAST_PLAYED = 5_000
"""Steps of random play from which a part that never moved is more than unlucky."""


@check(
    "PRW022",
    "reward-part-dead",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Score a hand-made case that must earn it, with this component alone.",
    explained_by=("reward-always-zero",),
)
def look(sample: RewardSample) -> Answer:
    """A component of the reward is exactly 0 in every row.

    What is measured:
        Whether a part is 0 throughout 200 rows of a table, or 5000 steps of random play. A part whose name says that it
        waits for an event (success, goal, collision, penalty ...) is only a note.

    Why it hurts:
        A part of the task is not trained at all, and nobody notices, because the sum still moves.

    Usual causes:
        A sensor or key whose name is misspelt; a pattern that never matches; an exception turned into 0; a weight of 0.

    What to try:
        Bring the environment by hand into a state that must pay; look at the raw value.

    When it is harmless:
        Events that have not happened yet. A part that only watches.

    References:
        Rule of three (Hanley & Lippman-Hand 1983): what happened in none of n rows is rarer than 3/n.
    """
    parts = usable_parts(sample)
    if isinstance(parts, Skip):
        return parts
    rows = sample.rewards.size
    if rows < (LEAST_PLAYED if sample.played else LEAST_ROWS):
        return Skip(f"only {rows} rows", ("more rewards",))
    dead = sorted((k for k, v in parts.items() if not v.any()), key=lambda k: bool(EVENT.search(k.lower())))
    if not dead:
        return None
    event = bool(EVENT.search(dead[0].lower()))
    return Symptom(
        f"component {dead[0][:40]} is dead: exactly 0 in all {rows} rows",
        f"reward.{dead[0]}",
        {"component": dead[0], "dead": len(dead), "rows": rows},
        severity=Severity.INFO if event else None,
    )
