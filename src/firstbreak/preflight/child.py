"""How an inspection is made in a child process: what the child tells as it looks, and what is made of its ending."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..check import Look, unpack
from ..errors import InputError
from ..inspection import Inspection, inspection
from ..isolation import Ending, How, Limits, run

Tell = Callable[[Look], None]


@dataclass
class Heard:
    """Collects the looks and details that a child tells; `tell` hears of each look as it ends."""

    tell: Tell | None = None
    looks: list[Look] = field(default_factory=list[Look])
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    def __call__(self, message: dict[str, Any]) -> None:
        """Take one message of the child."""
        if message["kind"] == "look":
            self.looks.append(unpack(message["look"]))
            if self.tell is not None:
                self.tell(self.looks[-1])
        elif message["kind"] == "details":
            self.details.update(message["details"])


def played(
    family: str, target: str, task: str, payload: Mapping[str, Any], limits: Limits | None, tell: Tell | None
) -> Inspection:
    """Inspect what is played by `task` (`module:function`) in a child; an early end is a note, and told in full."""
    heard = Heard(tell)
    ending = run(task, payload, limits=limits, hear=heard)
    details = heard.details
    notes = [*filter(None, [ending.copies.words]), *details.get("notes", [])]
    details["seconds"] = round(ending.seconds, 3)
    if ending.how is not How.FINISHED:
        notes.insert(0, f"{target} {ending.how.value} in {place(ending)}: {ending.message}"[:300])
        details["ending"] = {
            "how": ending.how.value, "call": ending.call, "message": ending.message, "seed": ending.seed,
            "actions": list(ending.actions[-200:]), "trace": ending.trace,
        }  # fmt: skip
    return inspection(family, target, heard.looks, details=details, notes=notes)


def place(ending: Ending) -> str:
    """Return where the environment was when a child ended."""
    return f"{ending.call or 'make'} after {len(ending.actions)} actions"


def built(family: str, target: str, task: str, seed: int, limits: Limits) -> Inspection:
    """Inspect a trainer that `task` (`module:function`) builds in a child with `seed`.

    Raises:
        InputError: the child ended before the first look.
    """
    heard = Heard()
    ending = run(task, {"target": target, "seed": seed}, limits=limits, hear=heard)
    if ending.how is How.FINISHED:
        heard.details["child_seconds"] = round(ending.seconds, 3)
        return inspection(family, target, heard.looks, details=heard.details)
    call = f" in {ending.call}" if ending.call else ""
    if not heard.looks:
        raise InputError(
            f"{target} could not be looked at: {ending.how.value}{call}: {ending.message}",
            last_lines(ending.trace or ending.printed),
        )
    note = f"The trainer's process ended early ({ending.how.value}{call}: {ending.message})"
    return inspection(family, target, heard.looks, details=heard.details, notes=[note])


def last_lines(trace: str, most: int = 600) -> str:
    """Return the end of what a child wrote: whole lines of at most `most` letters, without the marks under them."""
    kept: list[str] = []
    for line in reversed(trace.strip().splitlines()):
        if sum(map(len, kept)) + len(line) > most:
            break
        if line.strip(" ^~"):
            kept.append(line)
    return "\n".join(reversed(kept)) or trace.strip()[-most:]
