"""The check `paid-for-standing-still`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..gate import no_states, percent, too_few
from ..pumping import pay_of_the_best
from ..record import Record

HALF = 0.5
"""Of the pay, surely exceeded; and of the episodes that succeed, surely not reached. Engineering default."""
FEWEST_JUDGED = 5
"""Episodes whose success is known. Engineering default."""


@check(
    "TRJ013",
    "paid-for-standing-still",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Watch such an episode, and pay for what changes the state towards the goal.",
)
def look(record: Record) -> Answer:
    """Most of what the best episodes are paid is paid while the state stands still.

    What is measured:
        Of the positive rewards of the episodes above the median return, the share that is paid in steps that move no
        feature: its 95 % interval (bootstrap over episodes) lies above one half, and more than half of those episodes
        fail. Where success is not stored it cannot be told from a task of staying, and the check says so.

    Why it hurts:
        The policy is paid for waiting: a pump that gives more than the goal does.

    Usual causes:
        A bonus a step near something; a prize that comes back; a sensor that can be blocked.

    What to try:
        Look at the episodes of the highest return.

    When it is harmless:
        Tasks that ask to stay in a place. Store `success`, and the check is clear.
    """
    skip = too_few(record) or no_states(record)
    if skip is not None:
        return skip
    paid = pay_of_the_best(record)
    if paid is None:
        return None
    if paid.low <= HALF:
        return None
    if paid.judged < FEWEST_JUDGED:
        return Skip(
            f"{percent(paid.share)} of the best pay comes while the state stands still; is that the task?",
            ("success",),
            True,
        )
    if paid.success_high >= HALF:
        return None
    return Symptom(
        f"{percent(paid.share)} of the pay of the {paid.episodes:,} best episodes comes while the state stands still",
        "reward",
        {"still_frac": paid.share, "low_frac": paid.low, "episodes": paid.episodes, "succeeded": paid.succeeded},
    )
