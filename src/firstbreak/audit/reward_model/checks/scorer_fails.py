"""The check `scorer-fails`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..record import Scored


@check(
    "RWM001",
    "scorer-fails",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Score the named batch by hand, outside the trainer.",
)
def look(scored: Scored) -> Answer:
    """The scorer raises, hangs or ends before all is scored.

    What is measured:
        How the child process that scores ended.

    Why it hurts:
        In a run the same responses end the reward worker, or get a default score that says nothing.

    Usual causes:
        An empty response; texts beyond the model's length; a wrong folder; memory.

    What to try:
        Run the scorer on an empty response, on a very long one, and on a batch of one.

    When it is harmless:
        When the time limit was too short for the number of pairs: raise --time-limit or lower --rows.
    """
    if not scored.ended:
        return None
    done = int(scored.valid.sum())
    return Symptom(
        f"scoring ended early ({done} of {len(scored.pairs)} pairs scored): {scored.ended}"[:118],
        "scorer",
        {"pairs_scored": done, "pairs": len(scored.pairs)},
    )
