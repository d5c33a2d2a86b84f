"""The check `action-dimension-dead-in-data`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..gate import too_few
from ..record import Record


@check(
    "TRJ004",
    "action-dimension-dead-in-data",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    fix="Look what the policy gives for that dimension, and what is stored of it.",
)
def look(record: Record) -> Answer:
    """A dimension of the action never changes.

    What is measured:
        Dimensions with one value only in all steps of all episodes, while others move.

    Why it hurts:
        Its effect cannot be learnt from these data, and a deviation of zero makes log-probabilities infinite.

    Usual causes:
        A slice that drops it; a scale of zero in the wrapper; a gripper that is switched off.

    What to try:
        Give it a fixed value by hand, and see whether the observation answers.

    When it is harmless:
        An actuator that is locked on purpose.
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    width = next((int(np.prod(one.actions.shape[1:])) for one in record.drawn), 0)
    dead = record.summary.dead_actions
    if width < 2:
        return Skip("the action has one dimension")
    if not dead or len(dead) == width:
        return None
    return Symptom(
        f"{len(dead)} of {width} dimensions of the action never change; the first is number {dead[0]}",
        f"action[{dead[0]}]",
        {"dead": len(dead), "dimensions": width},
    )
