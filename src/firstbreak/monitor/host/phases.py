"""Phase timers: how the wall time of an iteration is shared between rollout, reward, update, sync, waiting and rest."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

SECONDS = {
    "rollout": "time/rollout_s",
    "generate": "time/generate",
    "reward": "time/reward",
    "update": "time/update_s",
    "critic_update": "time/critic_update",
    "sync": "time/sync",
    "old_logprob": "time/old_logprob",
    "ref_logprob": "time/ref_logprob",
    "wait": "async/wait_time",
}
"""Canonical names of the seconds in a phase; others become `time/<phase>_s`."""

SHARES = {"wait": "async/idle_fraction"}
"""Canonical names of the share of the wall time; others become `time/<phase>_frac`."""


@dataclass
class _Open(threading.local):
    """The phases that one thread is in, outermost first, and since when the innermost has the clock."""

    names: list[str] = field(default_factory=list[str])
    since: float = 0.0


class Phases:
    """Times named phases; a phase inside another takes its time from it, so that shares add up to one.

    `wait` is for blocking on a queue. Phases of other threads run beside those of the main one, so that their shares
    come on top. On a GPU, work that was started in one phase and not waited for is paid for where the host next waits.

    Example:
        ```python
        phases = Phases()
        with phases("rollout"):
            batch = collect()
        with phases("update"):
            learn(batch)
        monitor.log(phases.numbers(), step=update)
        ```

    Args:
        now: Seconds that never run backwards; replaced in tests.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._open = _Open()
        self._lock = threading.Lock()
        self._seconds: dict[str, float] = {}
        self._begin = now()

    @contextmanager
    def __call__(self, name: str) -> Generator[None]:
        """Time the block as phase `name`, also when it raises or returns early."""
        self._charge()
        self._open.names.append(name)
        try:
            yield
        finally:
            self._charge()
            self._open.names.pop()

    def _charge(self) -> float:
        """Book the time since the last change to the innermost phase of this thread."""
        now, state = self._now(), self._open
        if state.names:
            with self._lock:
                # What was spent before the last collection is in no interval any more.
                spent = max(0.0, now - max(state.since, self._begin))
                self._seconds[state.names[-1]] = self._seconds.get(state.names[-1], 0.0) + spent
        state.since = now
        return now

    def numbers(self) -> dict[str, float]:
        """Seconds and shares of each phase since the last call, `time/step` for all, `time/other_s` for the rest.

        A phase that is open now is counted up to now and goes on in the next interval.
        """
        now = self._charge()
        with self._lock:
            seconds, self._seconds = self._seconds, {}
            whole, self._begin = max(0.0, now - self._begin), now
        seconds["other"] = seconds.get("other", 0.0) + max(0.0, whole - sum(seconds.values()))
        numbers = {"time/step": whole}
        for name, spent in seconds.items():
            plain = re.sub(r"\W+", "_", name)
            numbers[SECONDS.get(name, f"time/{plain}_s")] = spent
            if whole > 0:
                numbers[SHARES.get(name, f"time/{plain}_frac")] = spent / whole
        return numbers
