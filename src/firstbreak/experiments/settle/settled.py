"""`Settled`: a diagnosis after what experiments found, with the reason for every cause that moved. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

from ...diagnosis import Diagnosis, RankedCause
from ..result import Outcome


@dataclass(frozen=True)
class Move:
    """What one experiment's verdict did to one cause."""

    cause: str
    experiment: str
    outcome: Outcome
    points: float
    """Added to the cause's score."""
    removed: bool
    reason: str


@dataclass(frozen=True)
class Settled:
    """A diagnosis with its causes ranked anew. What was found in the log stays as it was."""

    before: Diagnosis
    diagnosis: Diagnosis
    moves: tuple[Move, ...]
    removed: tuple[RankedCause, ...]
    """Causes that were ruled out, as they were ranked."""
    used: tuple[str, ...]
    """Names of the experiments whose verdict counted."""
    left: tuple[tuple[str, str], ...] = ()
    """(experiment, why its verdict moved nothing)."""
    notes: tuple[str, ...] = ()

    @property
    def convicted(self) -> tuple[str, ...]:
        """Causes that an experiment confirmed and none spoke against, best first."""
        raised = {m.cause for m in self.moves if m.points > 0}
        lowered = {m.cause for m in self.moves if m.points < 0}
        return tuple(c.name for c in self.diagnosis.causes if c.name in raised - lowered)
