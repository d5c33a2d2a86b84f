"""`TokenOutcome`: what one training on one rung showed. Plain data, to cross a process boundary."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class TokenOutcome:
    """One training: how it ended, and what the rung read off the trained policy."""

    rung: str
    seed: int
    steps: int
    ended: str = "finished"
    """finished, refused (raised before the first reward), raised, bad_policy, too_slow, not_asked; from the parent:
    hung, died, out_of_memory."""
    message: str = ""
    trace: str = ""
    scored: int = 0
    """Completions that were scored."""
    seconds: float = 0.0
    numbers: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def finished(self) -> bool:
        """Whether the training ended and the policy answered."""
        return self.ended == "finished"


def to_plain(outcome: TokenOutcome) -> dict[str, Any]:
    """Return `outcome` as JSON can hold it."""
    return asdict(outcome)


def from_plain(data: dict[str, Any]) -> TokenOutcome:
    """Return the outcome that `to_plain` and JSON turned into plain data."""
    return TokenOutcome(**data)
