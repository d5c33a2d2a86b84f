"""`Post`: takes notices from the training loop and delivers them on threads: no alert holds up training or another."""

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

    Each alert has a thread of its own, a daemon that lives while something waits for it: one that hangs costs the
    others nothing. After a fork a child has its own threads and empty queues: what waited is the parent's to send.

    Args:
        alerts: The alerts, or functions that take a `Notice`.
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
        self._number = 0
        self._reset()
        for alert in self.alerts:
            attach: Any = getattr(alert, "attach", None)
            if source is not None and attach is not None:
                attach(source)
        _OPEN.add(self)

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._threads: dict[Box, threading.Thread] = {}
        """The threads at work, by what they deliver from."""
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
                self._fault(box.put(Letter(notice, copy_context(), self._number)))
                self._start(box)
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
            over = self._state.wait_for(lambda: not self._threads, timeout_s)
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
            for box in self._boxes:
                if box.waiting:
                    self._start(box)
            left = [box for box in self._boxes if box.waiting and box not in self._threads]
        until = time.monotonic() + timeout_s
        for box in left:  # no thread could be started: the interpreter is ending
            self._work(box, until)
        self.drain(max(until - time.monotonic(), 0.0))
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

    def _start(self, box: Box) -> None:
        """Have a thread deliver what waits in `box`, where none is at it."""
        if box in self._threads:
            return
        thread = threading.Thread(target=self._work, args=(box,), name="firstbreak-alerts", daemon=True)
        self._threads[box] = thread
        try:
            thread.start()
        except RuntimeError:  # too many threads, or the interpreter is ending: `close` delivers what waits
            del self._threads[box]

    def _work(self, box: Box, until: float | None = None) -> None:
        """Deliver from `box` until nothing waits there, or until that time; runs on its thread."""
        while True:
            with self._state:
                due = box.due(self._closed)
                wait_s = 0.0 if due is None else max(due - self._now(), 0.0)
                late = until is not None and time.monotonic() >= until
                if due is None or late or (self._closed and wait_s > 0):  # at the end nobody waits for a limit to pass
                    self._threads.pop(box, None)
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
