"""What an alert is: anything with `send(notice)`. And the error it raises when a notice did not arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from ...errors import FirstbreakError
from ..verdict import Alarm, Notice


@runtime_checkable
class Alert(Protocol):
    """A place where notices go. `send` may block and may raise: `Post` calls it on a thread of its own.

    Optional besides: `close()`, called once at the end; `attach(source)`, called with the monitor at the start;
    `per_minute`, the most notices it takes in 60 s (None for any number).
    """

    def send(self, notice: Notice) -> None:
        """Deliver one notice or raise."""
        ...


class Source(Protocol):
    """What is read when somebody asks for the state of the run; a `Monitor` is one."""

    @property
    def latest(self) -> Mapping[str, float]:
        """The newest value of every key."""
        ...

    @property
    def alarms(self) -> Sequence[Alarm]:
        """The alarms so far, oldest first."""
        ...


class AlertError(FirstbreakError):
    """A notice was not delivered. Its text never holds an address, a token or what the other side answered.

    Args:
        message: What happened and where.
        hint: What to do.
        again: Whether another try may succeed.
        wait_s: How long the other side asks to wait before it.
    """

    kind: ClassVar[str] = "alert_failed"

    def __init__(self, message: str, hint: str = "", *, again: bool = True, wait_s: float = 0.0) -> None:
        super().__init__(message, hint)
        self.again = again
        self.wait_s = wait_s
