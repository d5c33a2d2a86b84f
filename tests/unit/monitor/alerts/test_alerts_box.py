"""Retries, waits, limits and overflow, without a thread and without waiting."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.finding import Severity
from firstbreak.monitor.alerts import AlertError, Call, Schedule
from firstbreak.monitor.alerts.box import WINDOW_S, Box, Letter
from firstbreak.monitor.verdict import Notice

Make = Callable[..., Notice]


def box_of(schedule: Schedule, seed: int = 0, per_minute: int | None = None) -> Box:
    alert: Any = Call(lambda notice: None)
    alert.per_minute = per_minute
    return Box(alert, "Call", schedule, random.Random(seed).random)


def note(level: Severity, number: int) -> Notice:
    return Notice(level, str(number), "", "", "R", "r", "link", "m", float(number), "rows", "continue", 0.0)


def letter(notice: Notice) -> Letter:
    return Letter(notice, copy_context(), int(notice.step))


def waiting(box: Box) -> list[int]:
    found: list[int] = []
    while box.due(False) is not None:
        taken = box.take()
        found.append(int(taken.notice.step))
        box.settle(taken, None, 0.0, False)
    return found


def kept_slowly(levels: list[Severity], size: int) -> list[int]:
    """What a list keeps that loses its oldest mildest item whenever it is too long."""
    kept: list[tuple[int, Severity]] = []
    for i, level in enumerate(levels):
        kept.append((i, level))
        if len(kept) > size:
            for rank in (Severity.INFO, Severity.WARNING, Severity.ERROR):
                of_rank = [item for item in kept if item[1] is rank]
                if of_rank:
                    kept.remove(of_rank[0])
                    break
    return [i for i, _ in kept]


@given(st.lists(st.sampled_from(Severity), max_size=60), st.integers(1, 12))
def test_overflow_keeps_what_a_slow_list_keeps(levels: list[Severity], size: int) -> None:
    box = box_of(Schedule(size=size))
    for i, level in enumerate(levels):
        box.put(letter(note(level, i)))
    assert box.waiting <= size
    assert box.dropped == max(len(levels) - size, 0)
    assert waiting(box) == kept_slowly(levels, size)


def test_overflow_is_said_once_until_something_arrives() -> None:
    box = box_of(Schedule(size=2))
    said = [box.put(letter(note(Severity.ERROR, i))) for i in range(5)]
    assert [bool(text) for text in said] == [False, False, True, False, False]
    assert "2 notices wait" in said[2]
    box.settle(box.take(), None, 0.0, False)
    assert not box.put(letter(note(Severity.ERROR, 5)))
    assert box.put(letter(note(Severity.ERROR, 6)))


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_waits_double_with_jitter_and_stay_below_the_longest(seed: int, failures: int) -> None:
    schedule = Schedule(tries=99, first_wait_s=1.0, longest_wait_s=60.0)
    box = box_of(schedule, seed)
    box.put(letter(note(Severity.ERROR, 0)))
    for k in range(failures):
        box.settle(box.take(), OSError(), 100.0, False)
        due = box.due(False)
        assert due is not None
        full = min(2.0**k, 60.0)
        assert 0.5 * full <= due - 100.0 <= full


def test_the_jitter_of_a_seed_repeats() -> None:
    def dues(seed: int) -> list[float | None]:
        box = box_of(Schedule(), seed)
        box.put(letter(note(Severity.ERROR, 0)))
        found: list[float | None] = []
        for _ in range(3):
            box.settle(box.take(), OSError(), 0.0, False)
            found.append(box.due(False))
        return found

    assert dues(1) == dues(1)
    assert dues(1) != dues(2)


def test_a_wait_that_the_other_side_asks_for_is_kept() -> None:
    box = box_of(Schedule())
    box.put(letter(note(Severity.ERROR, 0)))
    box.settle(box.take(), AlertError("full", wait_s=30.0), 100.0, False)
    assert box.due(False) == 130.0


def test_a_letter_is_given_up_after_its_tries_and_that_is_said_once() -> None:
    box = box_of(Schedule(tries=3))
    for i in range(3):
        box.put(letter(note(Severity.ERROR, i)))
    said = [box.settle(box.take(), AlertError("it is down."), 0.0, False) for _ in range(9)]
    assert [text for text in said if text] == ["Call: not delivered after 3 tries. it is down."]
    assert (box.lost, box.waiting) == (3, 0)
    for i in range(2):  # it works again, then not: said again
        box.put(letter(note(Severity.ERROR, i)))
    box.settle(box.take(), None, 0.0, False)
    said = [box.settle(box.take(), OSError(), 0.0, False) for _ in range(3)]
    assert [bool(text) for text in said] == [False, False, True]


def test_what_cannot_succeed_is_not_tried_again() -> None:
    box = box_of(Schedule(tries=5))
    box.put(letter(note(Severity.ERROR, 0)))
    assert "1 try" in box.settle(box.take(), AlertError("refused", again=False), 0.0, False)
    assert (box.lost, box.waiting) == (1, 0)


def test_a_failed_try_keeps_the_order() -> None:
    box = box_of(Schedule())
    for i in range(3):
        box.put(letter(note(Severity.ERROR, i)))
    box.settle(box.take(), OSError(), 0.0, False)
    assert waiting(box) == [0, 1, 2]


@given(st.integers(1, 7), st.lists(st.floats(0.0, 30.0), min_size=1, max_size=60))
def test_no_window_of_a_minute_holds_more_than_the_limit(limit: int, gaps: list[float]) -> None:
    box = box_of(Schedule(size=1000), per_minute=limit)
    now, at = 0.0, []
    for i, gap in enumerate(gaps):
        now += gap
        box.put(letter(note(Severity.INFO, i)))
        due = box.due(False)
        assert due is not None
        now = max(now, due)
        box.settle(box.take(), None, now, False)
        at.append(now)
    for start in at:
        assert sum(start <= t < start + WINDOW_S for t in at) <= limit


def test_without_a_limit_nothing_waits() -> None:
    box = box_of(Schedule(per_minute=1), per_minute=None)
    for i in range(50):
        box.put(letter(note(Severity.INFO, i)))
    assert waiting(box) == list(range(50))


def test_at_the_end_a_failure_ends_the_trying() -> None:
    box = box_of(Schedule())
    for i in range(4):
        box.put(letter(note(Severity.ERROR, i)))
    box.settle(box.take(), OSError(), 0.0, False)
    assert box.due(False) is not None
    assert box.due(True) == float("-inf")
    assert box.settle(box.take(), OSError(), 0.0, True)
    assert (box.lost, box.waiting, box.abandon()) == (4, 0, "")


def test_a_try_that_outlives_the_end_is_counted_once() -> None:
    box = box_of(Schedule())
    box.put(letter(note(Severity.ERROR, 0)))
    taken = box.take()
    assert "1 notice not sent" in box.abandon()
    box.settle(taken, None, 0.0, True)
    assert (box.sent, box.lost) == (0, 1)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (AlertError("host refused.", "do this"), "host refused."),
        (PermissionError(13, "Permission denied", "/secret/path"), "PermissionError: Permission denied."),
        (ValueError("https://hooks.example/T0/SECRET"), "It raised ValueError."),
        (OSError("https://hooks.example/T0/SECRET"), "It raised OSError."),
    ],
)
def test_a_fault_says_the_kind_of_a_strangers_error_only(error: Exception, text: str) -> None:
    box = box_of(Schedule(tries=1))
    box.put(letter(note(Severity.ERROR, 0)))
    assert box.settle(box.take(), error, 0.0, False) == f"Call: not delivered after 1 try. {text}"
