"""The check `copies-share-one-observation`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..copies import copies_of
from ..trying import tried
from ..world import World

MOST_SAME_FRAC = 0.95
"""Independent copies agree by chance in far fewer rows."""


@check(
    "PEN026",
    "copies-share-one-observation",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Write each copy into its own row.",
    explained_by=("copies-identical",),
)
def look(world: World) -> Answer:
    """All rows of a vector environment hold the observation of one copy.

    What is measured:
        Rows of observations and of rewards of all copies under random actions.

    Why it hurts:
        Each copy is trained on observations that are not its own: N - 1 of N samples are wrong.

    Usual causes:
        A stride or broadcast error; one buffer for all.

    What to try:
        Compare one row with the environment it belongs to.

    When it is harmless:
        Never, when the rewards differ.

    References:
        envpool pull request 325.
    """
    if world.kind != "vector":
        return Skip("not a vector environment")

    copies = tried(lambda: copies_of(world))
    if isinstance(copies, Skip):
        return copies
    count = len(copies.starts)
    if count < 2:
        return Skip("there is one copy only")
    same = float((copies.observations == copies.observations[:, :1]).all(axis=2)[:, 1:].mean())
    paid = float((copies.rewards == copies.rewards[:, :1])[:, 1:].mean())
    ended = float((copies.ended == copies.ended[:, :1])[:, 1:].mean())
    if same < MOST_SAME_FRAC or (paid > MOST_SAME_FRAC and ended > MOST_SAME_FRAC):
        return None
    return Symptom(
        f"{100 * same:.0f} % of the observation rows equal copy 0's, though rewards or ends differ",
        "observation",
        {"copies": count, "equal_rows_frac": same, "equal_rewards_frac": paid},
    )
