"""`Post`: takes notices from the training loop and delivers them on a thread, so that no alert can hold training up."""

from __future__ import annotations

import atexit
import contextlib
import inspect
import os
import random
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ..verdict import Notice
from .alert import Alert, Source
from .box import Box, Letter, Schedule
from .call import Call

_EXIT_S = 2.0
"""How long the end of the interpreter may wait for notices."""
_MOST_FAULTS = 50
_OPEN: weakref.WeakSet[Post] = weakref.WeakSet()


@dataclass(frozen=True)
class Standing:
    """How one alert is doing, in notices."""

    alert: str
    sent: int
    waiting: int
    dropped: int
    """Left out because too many waited."""
    lost: int
    """Given up after several tries, or left at the end."""


class Post:
    """Delivers notices to alerts: bounded memory, retries with growing waits, a limit per minute; `send` never blocks.

    The one thread is a daemon that lives while something waits; after a fork the child has its own and an empty queue,
    since what waited is the parent's to send. An alert that hangs delays the others by its own timeout.

    Args:
        alerts: The alerts, or functions that take a `Notice`; local ones first.
        source: The monitor, given to alerts that serve its state (`attach`).
        fault: Told of every new entry of `faults`, on whichever thread it arises.
        schedule: Sizes, tries, waits and limits.
        seed: Makes the random part of the waits repeatable.
        sleep: Waits that many seconds; replaced in tests. By default new work cuts a wait short.
        now: A clock in seconds that never goes back; replaced in tests.
    """

    def __init__(
        self,
        alerts: Iterable[Alert | Callable[[Notice], object]],
        *,
        source: Source | None = None,
        fault: Callable[[str], object] | None = None,
        schedule: Schedule | None = None,
        seed: int | None = None,
        sleep: Callable[[float], object] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.alerts: tuple[Alert, ...] = tuple(as_alert(alert) for alert in alerts)
        self.faults: list[str] = []
        """What went wrong, each trouble once."""
        self._hear = fault
        self._untold: deque[str] = deque()
        self._schedule = schedule or Schedule()
        self._draw = random.Random(seed).random  # noqa: S311 - only spreads the waits
        self._sleep, self._now = sleep, now
        self._closed = False
        self._number = self._turn = 0
        self._reset()
        for alert in self.alerts:
            attach: Any = getattr(alert, "attach", None)
            if source is not None and attach is not None:
                attach(source)
        _OPEN.add(self)

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._thread: threading.Thread | None = None
        self._state = threading.Condition()
        many = len(self.alerts) > 1
        self._boxes = [
            Box(alert, _label(alert) + (f" (alert {i})" if many else ""), self._schedule, self._draw)
            for i, alert in enumerate(self.alerts, 1)
        ]

    def _own(self) -> None:
        """Start afresh in a forked child: the thread is not there, and a lock may be held by nobody for ever."""
        if os.getpid() != self._pid:
            self._reset()

    def send(self, notice: Notice) -> None:
        """Queue `notice` for every alert and return at once. Never raises; after `close` it does nothing."""
        self._own()
        with self._state:
            if self._closed or not self._boxes:
                return
            self._number += 1
            for box in self._boxes:
                if not box.waiting:  # else the thread knows already when it is due
                    self._state.notify_all()
                self._fault(box.put(Letter(notice, copy_context(), self._number)))
            self._start()
        self._tell()

    @property
    def dropped(self) -> int:
        """Notices left out because too many waited, over all alerts."""
        return sum(standing.dropped for standing in self.standing())

    def standing(self) -> list[Standing]:
        """Return how each alert is doing."""
        self._own()
        with self._state:
            return [Standing(box.label, box.sent, box.waiting, box.dropped, box.lost) for box in self._boxes]

    def drain(self, timeout_s: float) -> bool:
        """Wait until nothing is left to send, at most `timeout_s`; return whether that is so."""
        self._own()
        with self._state:
            over = self._state.wait_for(lambda: self._thread is None, timeout_s)
            return over and not any(box.waiting for box in self._boxes)

    def close(self, timeout_s: float = 5.0) -> None:
        """Try what waits once more, without pauses, then close the alerts. Safe to call twice.

        Args:
            timeout_s: How long to wait for that; what is left then is lost, and `faults` says so.
        """
        self._own()
        with self._state:
            first, self._closed = not self._closed, True
            _OPEN.discard(self)
            self._state.notify_all()
            if any(box.waiting for box in self._boxes):
                self._start()
        if self._thread is None:  # none could be started: the interpreter is ending
            self._work(until=time.monotonic() + timeout_s)
        self.drain(timeout_s)
        with self._state:
            for box in self._boxes:
                self._fault(box.abandon())
        for alert in self.alerts if first else ():
            self._close_alert(alert)
        self._tell()

    def _close_alert(self, alert: Alert) -> None:
        close: Any = getattr(alert, "close", None)
        if close is None:
            return
        try:
            close()
        except Exception as error:
            self._fault(f"{_label(alert)}: could not be closed ({type(error).__name__}).")

    def _fault(self, text: str) -> None:
        if text and len(self.faults) < _MOST_FAULTS:
            self.faults.append(text)
            self._untold.append(text)

    def _tell(self) -> None:
        """Pass new faults on; never with the lock held, since whoever is told may wait for one that `send` is under."""
        while self._untold:
            with contextlib.suppress(Exception):  # of whoever is told; or another thread was faster
                text = self._untold.popleft()
                if self._hear is not None:
                    self._hear(text)

    def _start(self) -> None:
        if self._thread is not None:
            return
        self._thread = threading.Thread(target=self._work, name="firstbreak-alerts", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # too many threads, or the interpreter is ending: `close` delivers what waits
            self._thread = None

    def _work(self, until: float | None = None) -> None:
        """Deliver until nothing waits, or until that time; runs on the thread."""
        while True:
            with self._state:
                box, wait_s = self._next()
                if box is None or (until is not None and time.monotonic() >= until):
                    self._thread = None
                    self._state.notify_all()
                    return
                letter, closing = (box.take() if wait_s <= 0 else None), self._closed
                if letter is None and self._sleep is None:
                    self._state.wait(wait_s)
                    continue
            if letter is None:
                self._pause(wait_s)
                continue
            error = _deliver(box.alert, letter)
            with self._state:
                self._fault(box.settle(letter, error, self._now(), closing))
            self._tell()

    def _pause(self, wait_s: float) -> None:
        if self._sleep is not None:
            self._sleep(wait_s)

    def _next(self) -> tuple[Box | None, float]:
        """Return the box that is due first, None when nothing is left to do, and the seconds until then."""
        many = len(self._boxes)
        order = [(self._turn + k) % many for k in range(many)]  # in turns, so that none starves
        due = [(at, k) for k, i in enumerate(order) if (at := self._boxes[i].due(self._closed)) is not None]
        if not due:
            return None, 0.0
        at, k = min(due)
        i = order[k]
        wait_s = max(at - self._now(), 0.0)
        self._turn = i + 1 if wait_s <= 0 else self._turn
        over = self._closed and wait_s > 0  # at the end nobody waits for a limit to pass
        return (None if over else self._boxes[i]), wait_s


def as_alert(alert: Alert | Callable[[Notice], object]) -> Alert:
    """Return `alert` itself, or a function as an alert.

    Raises:
        InputError: it is neither, or it is a class where an object is meant.
    """
    if isinstance(alert, type):
        raise InputError(f"{alert.__name__} is a class.", f"Write alerts=[{alert.__name__}()].")
    if inspect.iscoroutinefunction(getattr(alert, "send", alert)):
        raise InputError("An async function is no alert.", "Give a plain function; it runs on a thread of its own.")
    if isinstance(alert, Alert):
        return alert
    if callable(alert):
        return Call(alert)
    raise InputError(
        f"A {type(alert).__name__} is no alert.", "Give an object with send(notice), or a function that takes a notice."
    )


def _label(alert: Alert) -> str:
    return getattr(alert.function, "__name__", "Call") if isinstance(alert, Call) else type(alert).__name__


def _deliver(alert: Alert, letter: Letter) -> BaseException | None:
    try:
        letter.context.run(alert.send, letter.notice)
    except BaseException as error:  # a SystemExit of somebody's function must not end the thread
        return error
    return None


@atexit.register
def _at_exit() -> None:
    for post in list(_OPEN):
        post.close(_EXIT_S)
