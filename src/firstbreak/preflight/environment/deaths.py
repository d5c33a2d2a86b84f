"""What the parent says of a child that raised, hung, died, ate memory or flooded its output."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...check import Look, Symptom
from ...finding import Severity
from ...isolation import Ending, How, Limits, run
from ...isolation.parent import GIB
from .cases import Case
from .scripts import with_case
from .shrink import shortest

REPLAY = "firstbreak.preflight.environment.replaying:task"
CHECKS: dict[How, str] = {
    How.HUNG: "environment-hangs",
    How.DIED: "environment-dies",
    How.OUT_OF_MEMORY: "environment-eats-memory",
    How.TOO_LOUD: "environment-prints",
    How.RAISED: "environment-raises",
}
FAULTS = {How.HUNG: "hangs", How.DIED: "dies", How.RAISED: "raises"}
SHRINK_S = 6.0
"""Seconds for making the actions of a hang or crash fewer; each trial is a process of its own."""
SHRINK_SILENCE_S = 2.0
TRIALS = 8


def look_of_death(
    ending: Ending, target: str, kind: str, under_way: str, limits: Limits, folder: Path | None
) -> Look | None:
    """Return the finding that `ending` amounts to, None when the child ended well or ran out of time.

    Args:
        ending: how the child ended.
        target: the environment.
        kind: its interface.
        under_way: the check that was looking when it ended, empty while recording.
        limits: those of the child.
        folder: where the script goes, None for no script.
    """
    name = CHECKS.get(ending.how)
    if name is None:
        return None
    actions = ending.actions
    if ending.how in (How.HUNG, How.DIED) and ending.call == "step" and len(actions) > 1:
        actions = fewer(ending, target, limits)
    symptom = Symptom(_message(ending, actions)[:120], ending.call or "process", _evidence(ending, under_way))
    fault = FAULTS.get(ending.how)
    if fault is None or kind == "unknown" or ending.call not in ("reset", "step"):
        return Look(name, symptom=symptom)
    return Look(name, symptom=with_case(symptom, name, Case(fault, ending.seed, actions), target, kind, folder))


def look_of_copies(ending: Ending) -> Look:
    """Return the finding that copies of the child amount to, which came back from a call of the environment."""
    copies = ending.copies
    call = copies.call or "a call"
    words = f"{call} forks and returns twice: {copies.count} copies of the process ran on and were stopped"
    return Look("environment-forks", symptom=Symptom(words[:120], call, {"copies": copies.count, "call": call}))


def look_of_leftovers(ending: Ending) -> Look | None:
    """Return the finding that processes stayed when the child ended, or that they, not the child, filled the memory."""
    name = "processes-left-behind"
    started = ending.most_processes - 1
    theirs = ending.peak_bytes - ending.own_bytes
    if ending.how is How.OUT_OF_MEMORY and started > 0 and theirs > ending.own_bytes and not ending.copies.count:
        words = f"{started} processes that it started hold {theirs / GIB:.1f} of the {ending.peak_bytes / GIB:.1f} GiB"
        evidence: dict[str, Any] = {"processes": started, "their_bytes": theirs, "peak_bytes": ending.peak_bytes}
        return Look(name, symptom=Symptom(words, ending.call or "process", evidence, severity=Severity.ERROR))
    if not ending.leftovers:
        return None
    words = "at least 1 process of the environment outlived it; it has been stopped"
    return Look(name, symptom=Symptom(words, "close", {"processes": 1}))


def _message(ending: Ending, actions: tuple[Any, ...]) -> str:
    call = ending.call or "the process"
    what = {
        How.HUNG: f"{call} does not return ({ending.message})",
        How.DIED: f"{call} ends the process ({ending.message})",
        How.OUT_OF_MEMORY: f"{call} takes {ending.message}",
        How.TOO_LOUD: f"the environment floods its output: {ending.message}",
        How.RAISED: f"{call} raises {ending.message}",
    }[ending.how]
    if ending.call != "step":
        return what
    place = f" at step {len(ending.actions)}"
    return what + place + (f"; {len(actions)} actions suffice" if len(actions) < len(ending.actions) else "")


def _evidence(ending: Ending, under_way: str) -> dict[str, Any]:
    evidence: dict[str, Any] = {
        "how": str(ending.how),
        "call": ending.call,
        "step": len(ending.actions),
        "after_s": round(ending.seconds, 2),
        "peak_bytes": ending.peak_bytes,
        "most_processes": ending.most_processes,
        "printed_bytes": ending.printed_bytes,
    }
    if ending.seed is not None:
        evidence["seed"] = ending.seed
    if under_way:
        evidence["while_looking_for"] = under_way
    if ending.printed.strip():
        evidence["last_output"] = ascii(ending.printed.strip()[-200:])
    return evidence


def fewer(ending: Ending, target: str, limits: Limits) -> tuple[Any, ...]:
    """Return fewer actions that end a child in the same way, as far as a few trials find them."""
    begin, trials = time.monotonic(), 0
    quick = replace(limits, silence_s=min(limits.silence_s, SHRINK_SILENCE_S), seconds=30.0)

    def fails(actions: list[Any]) -> bool:
        nonlocal trials
        trials += 1
        if trials > TRIALS or time.monotonic() - begin > SHRINK_S:
            return False
        try:
            again = run(REPLAY, {"target": target, "seed": ending.seed, "actions": actions}, limits=quick)
        except Exception:
            return False
        return again.how is ending.how and again.call == "step" and len(again.actions) == len(actions)

    return tuple(shortest(ending.actions, fails))
