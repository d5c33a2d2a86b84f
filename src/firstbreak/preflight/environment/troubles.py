"""From a trouble met while recording to the symptom of its check."""

from __future__ import annotations

from ...check import Symptom
from ...finding import Number, Onset, Severity
from .cases import Case, keep_case, raises, shortest_case, troubled
from .world import Trouble, World


def first_trouble(world: World, *kinds: str) -> Trouble | None:
    """Return the first trouble of one of these kinds; closing has a check of its own."""
    return next((t for t in world.troubles if t.kind in kinds and t.call != "close"), None)


def told(
    world: World, check: str, trouble: Trouble, message: str, fault: str, severity: Severity | None = None
) -> Symptom:
    """Return the symptom of `trouble`, its actions made as few as possible and kept for the script."""
    first = f", first at step {trouble.step}" if trouble.step and "(step " not in message else ""
    evidence: dict[str, Number] = {"step": trouble.step, "times": trouble.count, "call": trouble.call}
    case = Case(fault, trouble.seed, trouble.actions)
    if trouble.actions:
        again = raises(trouble.message.partition(":")[0]) if trouble.kind == "raised" else troubled(trouble.kind)
        case = shortest_case(world, trouble, fault, again)
        evidence["actions_steps"] = len(case.actions)
        if trouble.kind == "raised":
            first = f"; {len(case.actions)} actions suffice"
    keep_case(world, check, case)
    where = trouble.where or trouble.call
    at = Onset(trouble.step, trouble.step, "env_steps", 1.0)
    return Symptom(_fitted(message, first), where, evidence, severity=severity, at=at)


def _fitted(message: str, end: str, most: int = 120) -> str:
    return message[: most - len(end)] + end
