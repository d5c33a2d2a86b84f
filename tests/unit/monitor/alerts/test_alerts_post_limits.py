"""The threads at their limits: overflow, the limit per minute, alerts that hang, no thread at all."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from firstbreak.finding import Severity
from firstbreak.monitor.alerts import Post, Schedule
from firstbreak.monitor.verdict import Notice

Make = Callable[..., Notice]
LONG_S = 20.0
"""How long a test would hang before it fails; nothing waits for it."""


def test_ten_thousand_notices_while_an_alert_hangs_stay_bounded(make_notice: Make) -> None:
    hold, begun, got = threading.Event(), threading.Event(), list[Notice]()

    def slow(notice: Notice) -> None:
        begun.set()
        hold.wait(LONG_S)
        got.append(notice)

    post = Post([slow], schedule=Schedule(size=64, per_minute=100_000))
    post.send(make_notice(step=-1.0))
    assert begun.wait(LONG_S)
    for i in range(10_000):
        level = Severity.ERROR if i % 1000 == 0 else Severity.INFO
        post.send(make_notice(level=level, step=float(i)))
    standing = post.standing()[0]
    assert (standing.waiting, post.dropped) == (64, 10_001 - 64)
    assert post.faults == ["slow: 64 notices wait; the mildest are left out."]
    hold.set()
    assert post.drain(LONG_S)
    errors = [n.step for n in got if n.level is Severity.ERROR]
    assert errors == [-1.0] + [1000.0 * i for i in range(10)]
    assert got[-1].step == 9999.0
    post.close()


def test_the_limit_per_minute_holds(make_notice: Make, clock: Any) -> None:
    at: list[float] = []
    post = Post([lambda n: at.append(clock.now())], sleep=clock.sleep, now=clock.now, schedule=Schedule(per_minute=5))
    for _ in range(12):
        post.send(make_notice())
    assert post.drain(LONG_S)
    assert at == [1000.0] * 5 + [1060.0] * 5 + [1120.0] * 2
    post.close()


def test_what_the_limit_holds_back_at_the_end_is_told(make_notice: Make, clock: Any) -> None:
    got: list[Notice] = []
    hold, held = threading.Event(), threading.Event()

    def sleep(wait_s: float) -> None:
        held.set()
        hold.wait(LONG_S)

    post = Post([got.append], sleep=sleep, now=clock.now, schedule=Schedule(per_minute=2))
    for _ in range(5):
        post.send(make_notice())
    assert held.wait(LONG_S)
    hold.set()
    post.close()
    assert len(got) == 2
    assert post.faults == ["append: 3 notices not sent before the end."]


def test_closing_does_not_wait_for_an_alert_that_hangs(make_notice: Make) -> None:
    hold, begun = threading.Event(), threading.Event()

    def hangs(notice: Notice) -> None:
        begun.set()
        hold.wait(LONG_S)

    post = Post([hangs])
    post.send(make_notice())
    post.send(make_notice())
    assert begun.wait(LONG_S)
    post.close(timeout_s=0.01)
    assert post.faults == ["hangs: 2 notices not sent before the end."]
    hold.set()
    assert post.drain(LONG_S)
    assert post.standing()[0].lost == 2


def test_an_alert_that_hangs_costs_the_others_nothing(make_notice: Make) -> None:
    """A webhook that never answers while training dies: terminal and file have the last alarm all the same."""
    hold, got = threading.Event(), list[Notice]()

    def hangs(notice: Notice) -> None:
        hold.wait(LONG_S)

    post = Post([hangs, got.append])
    notices = [make_notice(step=float(i)) for i in range(3)]
    for notice in notices:
        post.send(notice)
    post.close(timeout_s=0.5)
    assert got == notices
    assert post.faults == ["hangs (alert 1): 3 notices not sent before the end."]
    hold.set()
    assert post.drain(LONG_S)


def test_closing_delivers_when_no_thread_can_be_started(make_notice: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    got: list[Notice] = []
    post = Post([got.append])
    post.send(make_notice())
    assert got == []
    assert not post.drain(0.0)
    post.close()
    assert len(got) == 1


def test_an_alert_sees_the_context_of_the_code_that_sent(make_notice: Make) -> None:
    active: contextvars.ContextVar[str] = contextvars.ContextVar("active", default="none")
    seen: list[str] = []
    post = Post([lambda n: seen.append(active.get())])
    active.set("run 1")
    post.send(make_notice())
    active.set("run 2")
    post.send(make_notice())
    assert post.drain(LONG_S)
    assert seen == ["run 1", "run 2"]
    post.close()


def test_an_alert_that_sends_notices_itself_does_not_deadlock(make_notice: Make) -> None:
    got: list[float] = []

    def again(notice: Notice) -> None:
        got.append(notice.step)
        if notice.step < 3:
            post.send(make_notice(step=notice.step + 1))

    post = Post([again])
    post.send(make_notice(step=0.0))
    assert post.drain(LONG_S)
    assert got == [0, 1, 2, 3]
    post.close()
