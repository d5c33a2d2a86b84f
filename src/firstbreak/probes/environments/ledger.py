"""`Ledger`: what the environments saw during training: which actions in which state, early and late; and the limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

BEAT_STEPS = 512
"""Steps between two signs of life and two looks at the clock."""
OVERRUN = 8
"""A trainer that takes this many times the steps it was given does not stop by itself."""
SLACK_STEPS = 20_000
"""Steps granted on top: a last rollout, evaluations."""
KEPT_ACTIONS = 4096
"""Actions of the first steps that are kept, to see how widely the trainer explores."""


class TooSlow(BaseException):
    """Raised inside `step` when a training breaks its limit of seconds; not an Exception, so few catch it."""


class NeverStops(BaseException):
    """Raised inside `step` when a training goes on far beyond the steps it was given."""


class Ledger:
    """Counts of one training over all copies of its environment."""

    def __init__(self, total_steps: int, seconds: float = 0.0, beat: Callable[[int], None] | None = None) -> None:
        self.total_steps, self.beat = total_steps, beat
        self.most_steps = OVERRUN * total_steps + SLACK_STEPS
        self.deadline = time.monotonic() + seconds if seconds else 0.0
        self.steps = 0
        self.episodes = 0
        self.copies = 0
        self.early: dict[tuple[int, int], int] = {}
        """How often cell c was chosen in state s in the first quarter of the steps."""
        self.late: dict[tuple[int, int], int] = {}
        """The same for the last quarter, counted from the steps asked for."""
        self.all: dict[tuple[int, int], int] = {}
        self.first_actions: list[Any] = []

    def next_copy(self) -> int:
        """Number the copies in the order they are made."""
        self.copies += 1
        return self.copies - 1

    def begin(self) -> None:
        """Note the start of an episode."""
        self.episodes += 1

    def note(self, state: int, cell: int, action: Any) -> None:
        """Note one step."""
        key = (state, cell)
        self.steps += 1
        self.all[key] = self.all.get(key, 0) + 1
        if 4 * self.steps <= self.total_steps:
            self.early[key] = self.early.get(key, 0) + 1
            if len(self.first_actions) < KEPT_ACTIONS:
                self.first_actions.append(action)
        elif 4 * self.steps > 3 * self.total_steps:
            self.late[key] = self.late.get(key, 0) + 1
        if self.steps % BEAT_STEPS == 0:
            self._look_at_the_clock()

    def _look_at_the_clock(self) -> None:
        if self.beat is not None:
            self.beat(self.steps)
        if self.deadline and time.monotonic() > self.deadline:
            raise TooSlow(f"{self.steps} of {self.total_steps} steps done")
        if self.steps > self.most_steps:
            raise NeverStops(f"{self.steps} steps taken, {self.total_steps} were asked for")
