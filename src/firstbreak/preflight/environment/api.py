"""`inspect_environment`: is the environment real? Everything of the user's runs in a child process with limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...check import Look, checks_of, unpack
from ...errors import insist_seed
from ...finding import Skip
from ...inspection import Inspection, inspection
from ...isolation import Ending, How, Limits, run
from . import global_state
from .deaths import CHECKS, look_of_copies, look_of_death, look_of_leftovers
from .task import LEFT_TO_PARENT, details_of, looks_at, recorded

TASK = "firstbreak.preflight.environment.task:task"
LIMITS = Limits(seconds=120.0, silence_s=30.0)
MOST_ATTEMPTS = 3
"""Children started for one environment: after a crash the next goes on without what killed the one before."""


def inspect_environment(
    target: str | Callable[[], Any],
    *,
    seed: int = 0,
    budget_s: float = 10.0,
    limits: Limits | None = None,
    isolate: bool = True,
    save_scripts: Path | None = None,
) -> Inspection:
    """Put every environment check to `target`.

    Args:
        target: a Gymnasium id, `module:factory` or `file.py:factory`; a factory itself is inspected in this process.
        seed: of everything that is drawn.
        budget_s: seconds of play, about two fifths of them for recording.
        limits: of the child process.
        isolate: False inspects in this process, where a hang or a crash is yours.
        save_scripts: folder for one script for each failure that has a list of actions.

    Raises:
        InputError: `target` names no environment, or the seed is none.
        MissingExtraError: it needs a package that is not installed.
    """
    insist_seed(seed)
    folder = None if save_scripts is None else str(Path(save_scripts).resolve())
    payload = {"target": target, "seed": seed, "budget_s": budget_s, "save_scripts": folder}
    if isolate and isinstance(target, str):
        return _Isolated(target, payload, limits or LIMITS).inspect()
    return _here(target, payload)


def _here(target: str | Callable[[], Any], payload: Mapping[str, Any]) -> Inspection:
    before = global_state.snapshot()
    try:
        world = recorded(target, payload, None)
        looks = list(looks_at(world, payload, lambda name: None))
    finally:
        global_state.restore(before)
    looks += [Look(name, skip=Skip("runs in this process", ("a child process",))) for name in LEFT_TO_PARENT]
    return inspection("environment", world.target, looks, details=details_of(world), notes=world.notes)


@dataclass
class _Isolated:
    """One inspection in child processes."""

    target: str
    payload: Mapping[str, Any]
    limits: Limits
    looks: dict[str, Look] = field(default_factory=dict[str, Look])
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])
    kind: str = "unknown"
    under_way: str = ""
    printed_bytes: int = 0
    most_depth: int | None = None

    def inspect(self) -> Inspection:
        """Run children until the checks are through or there is nothing more to get."""
        seconds = 0.0
        for _ in range(MOST_ATTEMPTS):
            self.under_way = ""
            payload = {**self.payload, "known": list(self.looks), "most_depth": self.most_depth}
            ending = run(TASK, payload, limits=self.limits, hear=self._hear)
            seconds += ending.seconds
            self._leftovers(ending)
            if ending.how is How.FINISHED or self._through(ending):
                break
            if not self._go_on(ending):
                break
        for name in LEFT_TO_PARENT:
            self.looks.setdefault(name, Look(name))
        self.details["seconds"] = round(seconds, 2)
        return inspection("environment", self.target, list(self.looks.values()), details=self.details, notes=self.notes)

    def _hear(self, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "looking":
            self.under_way = message["check"]
        elif kind == "look":
            look = unpack(message["look"])
            self.looks[look.check] = look
            self.under_way = ""
        elif kind == "source":
            self.kind = message["interface"]
        elif kind == "details":
            self.details.update(message["details"])
            self.notes += [n for n in message["notes"] if n not in self.notes]

    def _go_on(self, ending: Ending) -> bool:
        """Take down how a child ended; return whether another is worth starting."""
        folder = self.payload["save_scripts"]
        look = look_of_death(
            ending, self.target, self.kind, self.under_way, self.limits, Path(folder) if folder else None
        )
        if look is None:
            self.notes.append(f"stopped before all checks had looked: {ending.message}")
            return False
        if look.check not in self.looks or self.looks[look.check].symptom is None:
            self.looks[look.check] = look
        if self.under_way:
            self.looks.setdefault(self.under_way, self._killed(ending))
            return True
        if ending.call == "step" and len(ending.actions) > 1 and self.most_depth is None:
            self.most_depth = len(ending.actions) - 1
            self.notes.append(f"episodes were cut at step {self.most_depth} for the other checks")
            return True
        return False

    def _through(self, ending: Ending) -> bool:
        """Whether a child that seems to have died with status 0 had told everything: its last word may get lost."""
        names = {c.name for c in checks_of("environment")} - set(LEFT_TO_PARENT)
        return ending.how is How.DIED and ending.message == "exit status 0" and names <= set(self.looks)

    def _killed(self, ending: Ending) -> Look:
        reason = f"the environment ended the process while this was looked at ({CHECKS[ending.how]})"
        return Look(self.under_way, skip=Skip(reason, ("an environment that survives this check",)))

    def _leftovers(self, ending: Ending) -> None:
        """Take down copies that ran on, and processes that stayed or that filled the memory."""
        if ending.copies.count:
            self.looks.setdefault("environment-forks", look_of_copies(ending))
        known = self.looks.get("processes-left-behind")
        left = look_of_leftovers(ending)
        if left is not None and (known is None or known.symptom is None):
            self.looks["processes-left-behind"] = left
