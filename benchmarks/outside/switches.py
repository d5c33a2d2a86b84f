"""What is planted in a run, from when on, and the clock and true score that nothing of the log shows."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Truth:
    """What really happened in all copies of the world: (environment steps by then, true return) of each episode."""

    steps: int = 0
    episodes: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    died: str = ""

    def end(self, share: float = 0.2) -> float:
        """Return the mean true return of the episodes that ended in the last `share` of the run; NaN without any."""
        late = [score for step, score in self.episodes if step > (1 - share) * self.steps]
        return sum(late) / len(late) if late else float("nan")


@dataclass
class Planted:
    """One change of the code, by its name; `at` is the environment step from which on it is there."""

    name: str
    at: int
    truth: Truth

    def on(self, name: str) -> bool:
        """Whether `name` is what is planted, and its time has come."""
        return name == self.name and self.truth.steps >= self.at


class PlannedStop(Exception):
    """Whoever watches the run stops it, as one does with Ctrl-C; the log ends there and nothing is wrong with it."""
