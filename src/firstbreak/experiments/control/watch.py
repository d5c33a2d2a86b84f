"""`Watch`: counts the environment steps of a training, gives signs of life, and takes a fingerprint of what it did."""

from __future__ import annotations

import time
from hashlib import blake2b
from typing import Any

from ..trial import Trial

LOOK_STEPS = 64
"""Steps between two looks at the clock."""
PRINTED_STEPS = 2048
"""Steps that go into the fingerprint."""
OVERRUN = 8
"""A trainer that takes this many times the steps it was given does not stop by itself."""
SLACK_STEPS = 20_000
"""Steps granted on top: a last rollout, evaluations of its own."""


class TooSlowError(BaseException):
    """Raised inside `step` when a trial breaks its limit of seconds; not an Exception, so few trainers catch it."""


class NeverStopsError(BaseException):
    """Raised inside `step` when a training goes on far beyond the steps it was given."""


class Watch:
    """One training, over all copies of its environment."""

    def __init__(self, trial: Trial, total_steps: int) -> None:
        self.trial = trial
        self.total_steps = total_steps
        self.most_steps = OVERRUN * total_steps + SLACK_STEPS
        self.deadline = time.monotonic() + trial.seconds if trial.seconds else float("inf")
        self.steps = 0
        self._digest = blake2b(digest_size=8)

    def begin(self, observation: Any) -> None:
        """Note the start of an episode."""
        if self.steps < PRINTED_STEPS:
            self._digest.update(repr(observation).encode())

    def note(self, action: Any, reward: float) -> None:
        """Note one step."""
        self.steps += 1
        if self.steps <= PRINTED_STEPS:
            self._digest.update(repr((action, reward)).encode())
        if self.steps % LOOK_STEPS == 0:
            self._look()

    @property
    def fingerprint(self) -> str:
        """A digest of the first starts, actions and rewards; empty before the first step."""
        return self._digest.hexdigest() if self.steps else ""

    def _look(self) -> None:
        self.trial.beat(self.steps)
        if time.monotonic() > self.deadline:
            raise TooSlowError(f"{self.steps} of {self.total_steps} environment steps done")
        if self.steps > self.most_steps:
            raise NeverStopsError(f"{self.steps} environment steps taken, {self.total_steps} were asked for")
