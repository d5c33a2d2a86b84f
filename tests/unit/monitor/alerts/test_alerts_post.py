"""The threads: nothing blocks, nothing is sent twice, nothing hangs, every fault is told once."""

from __future__ import annotations

import gc
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from firstbreak.errors import InputError
from firstbreak.monitor.alerts import AlertError, Call, Console, Post, Schedule, as_alert
from firstbreak.monitor.alerts.post import _OPEN, _at_exit
from firstbreak.monitor.verdict import Notice

Make = Callable[..., Notice]
LONG_S = 20.0
"""How long a test would hang before it fails; nothing waits for it."""


class Flaky:
    """Fails the first `failures` tries."""

    per_minute: int | None = None

    def __init__(self, failures: int, error: BaseException | None = None) -> None:
        self.failures, self.error = failures, error or AlertError("down.")
        self.got: list[Notice] = []
        self.tries = 0
        self.closed = 0

    def send(self, notice: Notice) -> None:
        self.tries += 1
        if self.tries <= self.failures:
            raise self.error
        self.got.append(notice)

    def close(self) -> None:
        self.closed += 1


def test_notices_arrive_in_order_at_every_alert(make_notice: Make) -> None:
    one, two = Flaky(0), Flaky(0)
    post = Post([one, two])
    notices = [make_notice(step=float(i)) for i in range(100)]
    for notice in notices:
        post.send(notice)
    assert post.drain(LONG_S)
    assert one.got == two.got == notices
    assert post.faults == []
    assert [(s.sent, s.waiting, s.dropped, s.lost) for s in post.standing()] == [(100, 0, 0, 0)] * 2
    post.close()


def test_a_failed_notice_is_tried_again_after_growing_waits(make_notice: Make, clock: Any) -> None:
    alert = Flaky(3)
    post = Post([alert], sleep=clock.sleep, now=clock.now, seed=3)
    post.send(make_notice())
    assert post.drain(LONG_S)
    assert len(alert.got) == 1
    assert alert.tries == 4
    assert [low <= wait <= 2 * low for wait, low in zip(clock.slept, (0.5, 1, 2), strict=True)] == [True] * 3
    assert post.faults == []
    post.close()


def test_an_alert_that_is_down_does_not_keep_the_others_waiting(make_notice: Make) -> None:
    down, up = Flaky(10**9), Flaky(0)
    post = Post([down, up])  # with real waits: the second must not have to wait for the first
    arrived = threading.Event()
    up.send = lambda notice: arrived.set()  # type: ignore[method-assign]
    post.send(make_notice())
    assert arrived.wait(LONG_S)
    assert post.standing()[0].waiting == 1
    post.close()
    assert [fault.split(":")[0] for fault in post.faults] == ["Flaky (alert 1)"]
    assert post.standing()[0].lost == 1


def test_giving_up_is_told_once(make_notice: Make, clock: Any) -> None:
    told: list[str] = []

    def hear(text: str) -> None:
        told.append(text)
        raise ValueError("whoever is told may fail too")

    post = Post([Flaky(10**9)], sleep=clock.sleep, now=clock.now, schedule=Schedule(tries=4), fault=hear)
    for _ in range(3):
        post.send(make_notice())
    assert post.drain(LONG_S)
    assert post.faults == told == ["Flaky: not delivered after 4 tries. down."]
    assert post.standing()[0].lost == 3
    assert len(clock.slept) == 11
    post.close()


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), RecursionError(), MemoryError()])
def test_nothing_that_an_alert_raises_ends_the_thread(make_notice: Make, clock: Any, error: BaseException) -> None:
    alert = Flaky(1, error)
    post = Post([alert], sleep=clock.sleep, now=clock.now)
    post.send(make_notice())
    assert post.drain(LONG_S)
    assert len(alert.got) == 1
    post.close()


def test_closing_sends_what_waits_without_the_pause(make_notice: Make) -> None:
    alert, pauses, go_on = Flaky(1), threading.Event(), threading.Event()

    def sleep(wait_s: float) -> None:
        pauses.set()
        go_on.wait(LONG_S)

    post = Post([alert], sleep=sleep, schedule=Schedule(first_wait_s=10_000.0, longest_wait_s=10_000.0))
    post.send(make_notice())
    assert pauses.wait(LONG_S)
    go_on.set()
    post.close(LONG_S)
    assert len(alert.got) == 1
    assert alert.closed == 1
    post.close()
    assert alert.closed == 1
    post.send(make_notice())
    assert len(alert.got) == 1
    assert post.faults == []


def test_a_fault_while_closing_is_told(make_notice: Make) -> None:
    class Bad(Flaky):
        def close(self) -> None:
            raise ValueError("https://hooks.example/SECRET")

    post = Post([Bad(0)])
    post.close()
    assert post.faults == ["Bad: could not be closed (ValueError)."]


def test_whoever_is_told_of_a_fault_may_hold_a_lock_that_the_sender_holds(make_notice: Make) -> None:
    training, told = threading.Lock(), threading.Event()

    def hear(text: str) -> None:
        with training:
            told.set()

    post = Post([Flaky(10**9)], schedule=Schedule(tries=1), fault=hear)
    for _ in range(200):
        with training:
            post.send(make_notice())
    assert told.wait(LONG_S)
    post.close()


def test_many_threads_may_send(make_notice: Make) -> None:
    alert = Flaky(0)
    post = Post([alert], schedule=Schedule(size=10_000))
    senders = [
        threading.Thread(target=lambda: [post.send(make_notice()) for _ in range(100)] and None) for _ in range(8)
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert post.drain(LONG_S)
    assert len(alert.got) == 800
    post.close()


def test_no_thread_lives_while_nothing_waits(make_notice: Make) -> None:
    post = Post([Flaky(0)])
    assert not [t for t in threading.enumerate() if t.name == "firstbreak-alerts"]
    post.send(make_notice())
    assert post.drain(LONG_S)
    for thread in threading.enumerate():
        if thread.name == "firstbreak-alerts":
            thread.join(LONG_S)
    assert not [t for t in threading.enumerate() if t.name == "firstbreak-alerts"]
    post.close()


def test_a_post_that_is_forgotten_is_collected_and_the_end_of_the_program_closes_the_rest(make_notice: Make) -> None:
    gc.collect()
    before = len(_OPEN)
    post = Post([alert := Flaky(0)])
    assert len(_OPEN) == before + 1
    _at_exit()
    assert alert.closed == 1
    assert post not in _OPEN
    del post
    Post([])
    gc.collect()
    assert len(_OPEN) == 0


def test_without_alerts_nothing_happens(make_notice: Make) -> None:
    post = Post([])
    post.send(make_notice())
    assert post.drain(LONG_S)
    post.close()
    assert (post.faults, post.standing(), post.dropped) == ([], [], 0)


def test_a_source_is_given_to_the_alerts_that_ask() -> None:
    class Asks(Flaky):
        source: Any = None

        def attach(self, source: Any) -> None:
            self.source = source

    source: Any = object()
    asks = Asks(0)
    Post([Flaky(0), asks], source=source).close()
    assert asks.source is source


def test_what_is_no_alert_is_refused_at_once() -> None:
    async def later(notice: Notice) -> None: ...

    with pytest.raises(InputError, match=r"Console is a class"):
        as_alert(Console)
    with pytest.raises(InputError, match="str is no alert"):
        as_alert("console")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="async"):
        as_alert(later)
    assert isinstance(as_alert(print), Call)


def test_a_function_may_be_lost_with_its_warning(make_notice: Make) -> None:
    def warns(notice: Notice) -> None:
        warnings.warn("x", stacklevel=1)  # an error under the settings of these tests

    post = Post([warns], schedule=Schedule(tries=1))
    post.send(make_notice())
    assert post.drain(LONG_S)
    assert post.faults == ["warns: not delivered after 1 try. It raised UserWarning."]
    post.close()


def test_importing_the_alerts_loads_no_service() -> None:
    import subprocess

    code = (
        "import sys, firstbreak.monitor.alerts\n"
        "print(*[m for m in ('wandb','trackio','opentelemetry','torch','http.server','requests') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
