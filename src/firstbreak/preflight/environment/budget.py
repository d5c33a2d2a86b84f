"""How much playing a recording may cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Budget:
    """Limits of a recording; whichever is reached first ends it."""

    seconds: float = 4.0
    steps: int = 20_000
    episodes: int = 300
    storage_bytes: int = 64 << 20
    """Of all recorded observations together."""

    def share(self, frac: float) -> Budget:
        """Return this share of the budget."""
        return Budget(
            self.seconds * frac,
            max(1, int(self.steps * frac)),
            max(1, int(self.episodes * frac)),
            int(self.storage_bytes * frac),
        )


MOST_WAITING = 3.0
"""How many times its own seconds of work a recording may take on a machine that others keep busy."""


@dataclass
class Purse:
    """What is left of a budget."""

    budget: Budget
    steps: int = 0
    episodes: int = 0
    begin: float = field(default_factory=time.perf_counter)
    worked: float = field(default_factory=time.process_time)

    @property
    def seconds(self) -> float:
        """Seconds spent: those of work, so that a busy machine sees as much of the environment as an idle one.

        Threads may work more seconds than pass, and a simulator elsewhere makes this process wait: then those count
        that passed, or a third of them.
        """
        passed = time.perf_counter() - self.begin
        return min(passed, max(time.process_time() - self.worked, passed / MOST_WAITING))

    def left_steps(self, row_bytes: int) -> int:
        """Return how many more steps may be recorded when each takes `row_bytes`."""
        most = min(self.budget.steps, self.budget.storage_bytes // max(1, row_bytes))
        return max(0, most - self.steps)

    @property
    def empty(self) -> bool:
        """Whether no further episode may begin."""
        return self.episodes >= self.budget.episodes or self.seconds > self.budget.seconds
