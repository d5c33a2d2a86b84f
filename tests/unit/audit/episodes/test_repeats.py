"""Repeated calls, retries and rounds, against slow twins."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.episodes.episode import Call, read
from firstbreak.audit.episodes.repeats import LONGEST_PERIOD, ROUNDS, longest_loop, looped, repeated, retries
from firstbreak.audit.sample import ToolCall


def call(name: str, result: str = "ok", changed: bool | None = False, failed: bool | None = None) -> Call:
    return read(ToolCall(name, "{}", result, failed, changed))


def slow_loop(marks: Sequence[str]) -> int:
    best = 0
    for start in range(len(marks)):
        for end in range(start + 1, len(marks) + 1):
            piece = marks[start:end]
            for period in range(2, LONGEST_PERIOD + 1):
                repeats = all(piece[i] == piece[i % period] for i in range(len(piece)))
                if repeats and len(piece) >= ROUNDS * period and len(set(piece)) > 1:
                    best = max(best, len(piece))
    return best


@given(st.lists(st.sampled_from("abc"), max_size=24))
def test_the_longest_loop_is_that_of_the_slow_twin(marks: list[str]) -> None:
    assert longest_loop(marks) == slow_loop(marks)


def test_a_loop_needs_three_rounds_and_the_same_results() -> None:
    assert looped([call("a"), call("b")] * 3) == 6
    assert looped([call("a"), call("b")] * 2) == 0
    assert looped([call("a")] * 9) == 0
    assert looped([call(name, str(i)) for i, name in enumerate("ab" * 4)]) == 0


def slow_repeated(calls: Sequence[Call]) -> int:
    told = all(c.made.changed is not None for c in calls)
    count = 0
    for j, later in enumerate(calls):
        if len({c.made.result for c in calls if c.key == later.key}) > 1:
            continue
        earlier = [i for i in range(j) if calls[i].key == later.key]
        if earlier and not told:
            count += earlier[-1] == j - 1
        elif earlier:
            count += not any(calls[k].made.changed for k in range(earlier[-1], j))
    return count


CALLS = st.builds(call, st.sampled_from("abc"), st.sampled_from(["x", "y"]), st.sampled_from([True, False, False]))
UNTOLD = st.builds(call, st.sampled_from("abc"), st.just("x"), st.none())


@given(st.lists(CALLS, max_size=12) | st.lists(UNTOLD, max_size=12))
def test_repeated_calls_are_those_of_the_slow_twin(calls: list[Call]) -> None:
    assert repeated(calls) == slow_repeated(calls)


def test_a_call_that_waited_is_not_repeated() -> None:
    assert repeated([call("poll", "pending"), call("poll", "pending"), call("poll", "done")]) == 0
    assert repeated([call("read")] * 3) == 2
    assert repeated([call("check"), call("write", changed=True), call("check")]) == 0


def test_retries_in_vain() -> None:
    bad = call("a", "Error: no")
    assert retries([bad, bad, bad]) == (2, 2)
    assert retries([bad, call("a", "fine")]) == (1, 0)
    assert retries([bad, call("b"), bad]) == (0, 0)
    assert retries([]) == (0, 0)


def test_arguments_in_another_order_are_the_same_call() -> None:
    one, two = read(ToolCall("a", '{"x": 1, "y": 2}')), read(ToolCall("a", '{"y":2,"x":1}'))
    assert one.key == two.key
    assert read(ToolCall("a", "plain  text")).key == read(ToolCall("a", "plain text")).key
    assert read(ToolCall("a", "[1]")).given is None
    assert read(ToolCall("a", "")).given == {}


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_call_is_read(arguments: str, result: str) -> None:
    found = read(ToolCall("x", arguments, result))
    assert found.failed in (True, False)
    assert isinstance(hash(found.key), int)
