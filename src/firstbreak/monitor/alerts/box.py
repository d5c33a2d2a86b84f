"""`Box`: what waits for one alert, and when the next try is due. No thread and no clock of its own."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass

from ...finding import Severity
from ..verdict import Notice
from .alert import Alert, AlertError

WINDOW_S = 60.0
_MILDEST_FIRST = sorted(Severity, key=lambda level: level.rank)


@dataclass(frozen=True)
class Schedule:
    """How hard `Post` tries. Waits double with every failure in a row and are shortened by chance by up to a half."""

    size: int = 256
    """Notices that may wait for one alert."""
    tries: int = 5
    """Tries for one notice before it is given up."""
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    per_minute: int = 30
    """Notices an alert is sent within 60 s, where it does not say itself."""


@dataclass
class Letter:
    """A notice on its way, with the context variables of the code that sent it."""

    notice: Notice
    context: Context
    number: int = 0
    """Its place in the order of arrival."""
    tries: int = 0


class Box:
    """The letters for one alert, oldest first.

    Args:
        alert: Where they go.
        label: What the alert is called in faults.
        schedule: Sizes and waits.
        draw: A random number in [0, 1).
    """

    def __init__(self, alert: Alert, label: str, schedule: Schedule, draw: Callable[[], float]) -> None:
        self.alert, self.label, self.schedule = alert, label, schedule
        self.sent = self.dropped = self.lost = 0
        self._draw = draw
        self._waiting: dict[Severity, deque[Letter]] = {level: deque() for level in _MILDEST_FIRST}
        self._at_work = False
        self._failures = 0
        """Failed tries in a row, whatever the letter."""
        self._not_before = -math.inf
        self._down = self._full = self._over = False
        self._trouble = ""
        """What the last try met with, `""` after one that went well."""
        limit = getattr(alert, "per_minute", schedule.per_minute)
        self._tried_at: deque[float] | None = None if limit is None else deque(maxlen=max(int(limit), 1))

    @property
    def waiting(self) -> int:
        """Letters not delivered yet, the one at work included."""
        return sum(map(len, self._waiting.values())) + self._at_work

    def put(self, letter: Letter) -> str:
        """Take a letter in; where there is no room, the oldest of the mildest goes. Return a fault, `""` for none."""
        self._waiting[letter.notice.level].append(letter)
        if self.waiting <= self.schedule.size:
            return ""
        next(letters for letters in self._waiting.values() if letters).popleft()
        self.dropped += 1
        first, self._full = not self._full, True
        return f"{self.label}: {self.schedule.size} notices wait; the mildest are left out." if first else ""

    def due(self, closing: bool) -> float | None:
        """Return when the next try may be made, on the clock of `settle`; None when nothing waits.

        When `closing` there is no more waiting after a failure; the limit per minute still holds.
        """
        if not any(self._waiting.values()):
            return None
        full = self._tried_at is not None and len(self._tried_at) == self._tried_at.maxlen
        allowed = self._tried_at[0] + WINDOW_S if self._tried_at and full else -math.inf
        return max(allowed, -math.inf if closing else self._not_before)

    def take(self) -> Letter:
        """Return the letter to be tried now; `settle` says how it went."""
        self._at_work = True
        return min((letters for letters in self._waiting.values() if letters), key=lambda x: x[0].number).popleft()

    def settle(self, letter: Letter, error: BaseException | None, now: float, closing: bool) -> str:
        """Note how the try went: what is due next, and a fault when a letter is given up (once until one arrives)."""
        if self._over:  # a try that outlived `abandon`, where it was counted
            return ""
        self._at_work = False
        letter.tries += 1
        if self._tried_at is not None:
            self._tried_at.append(now)
        if error is None:
            self.sent += 1
            self._failures, self._not_before, self._trouble = 0, -math.inf, ""
            self._down = self._full = False
            return ""
        self._failures, self._trouble = self._failures + 1, describe(error)
        self._not_before = now + self._wait_s(error)
        if closing:  # the others would fail as well, and the program wants to end
            self.lost += 1 + self.waiting
            self._clear()
        elif letter.tries < self.schedule.tries and not (isinstance(error, AlertError) and not error.again):
            self._waiting[letter.notice.level].appendleft(letter)
            return ""
        else:
            self.lost += 1
        first, self._down = not self._down, True
        tries = "1 try" if letter.tries == 1 else f"{letter.tries} tries"
        return f"{self.label}: not delivered after {tries}. {self._trouble}" if first else ""

    def _wait_s(self, error: BaseException) -> float:
        schedule = self.schedule
        doubled = schedule.first_wait_s * 2.0 ** min(self._failures - 1, 60)
        wait_s = min(doubled, schedule.longest_wait_s) * (1.0 - 0.5 * self._draw())
        return max(wait_s, error.wait_s) if isinstance(error, AlertError) else wait_s

    def abandon(self) -> str:
        """Leave what still waits; return the fault, `""` when nothing did."""
        left = self.waiting
        self.lost += left
        self._over, self._at_work = True, False
        self._clear()
        text = f"{self.label}: {left} {'notice' if left == 1 else 'notices'} not sent before the end. {self._trouble}"
        return text.rstrip() if left else ""

    def _clear(self) -> None:
        for letters in self._waiting.values():
            letters.clear()


def describe(error: BaseException) -> str:
    """Return what may be said of an error: the text of ours; of others only the kind, as theirs may hold a secret."""
    if isinstance(error, AlertError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}."
    return f"It raised {type(error).__name__}."
