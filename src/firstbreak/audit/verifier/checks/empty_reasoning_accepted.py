"""The check `empty-reasoning-accepted`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..frames import THINKING
from ..gate import unasked
from ..record import Audit


@check(
    "VER024",
    "empty-reasoning-accepted",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Demand some text between the tags, or do not demand the tags.",
)
def look(audit: Audit) -> Answer:
    """Reasoning tags are demanded, but nothing needs to stand between them.

    What is measured:
        Where the right answer passes only with reasoning tags: whether it still passes with nothing or a space
        between them.

    Why it hurts:
        The policy drops its reasoning and keeps the tags; accuracy on hard questions falls later.

    Usual causes:
        A regular expression with .* where .+ was meant.

    What to try:
        Demand a minimum of characters, or leave the tags out of the reward.

    When it is harmless:
        Where answers without reasoning are welcome and the tags serve only for parsing.
    """
    skip = unasked(audit, "right")
    if skip is not None:
        return skip
    if any(name not in THINKING for name in audit.accepted):
        return Skip("it does not demand reasoning tags")
    trials = audit.of("thoughtless")
    rate = audit.rate(trials)
    if not trials or rate.value < 0.5:
        return None
    return Symptom(
        f"{rate.words()} right answers with nothing between the reasoning tags pass",
        "verifier",
        {"passed_frac": rate.value, "low_frac": rate.low, "high_frac": rate.high, "asked": rate.tries},
    )
