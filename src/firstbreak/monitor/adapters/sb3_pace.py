"""Which updates of a Stable-Baselines3 model get a row."""

from __future__ import annotations

EVERY_STEPS = 500
"""Environment steps from row to row where the user does not say. Engineering choice. Off-policy a row costs about as
much as one gradient step (DQN with the library's settings 1.7 ms against 2.3 ms, SAC 6.7 ms against 17 ms, one core),
so that cost would allow one every 64 steps; but rules whose opening is counted in rows then compare with an earlier
time, and one of two unbroken trainings alarmed (docs/monitor_results.md)."""


class Pace:
    """Decides before an update, and remembers until it is over, whether it is one that is looked at.

    Args:
        every_steps: Least number of environment steps from row to row.
    """

    def __init__(self, every_steps: int = EVERY_STEPS) -> None:
        self._every, self._due = every_steps, 0
        self.open = False
        """The update that goes on, or comes next, gets a row."""

    def start(self, steps: int, *, off_policy: bool) -> None:
        """Begin a training at `steps` environment steps; on-policy the first rollout counts."""
        self._due = steps + self._every if off_policy else 0
        self.open = False

    def due(self, steps: int) -> bool:
        """Whether the update that comes next is looked at."""
        self.open = steps >= self._due
        return self.open

    def taken(self, steps: int) -> bool:
        """Say that an update is over; True where it gets its row, and then the next one waits."""
        if not self.open:
            return False
        self.open, self._due = False, steps + self._every
        return True

    def finish(self, *, off_policy: bool) -> None:
        """The training is over: what an off-policy algorithm did last gets a row whether it is due or not."""
        self.open |= off_policy
