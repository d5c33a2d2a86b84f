"""A failure of the set-up is told from one of the policy."""

from __future__ import annotations

import math

import pytest

from firstbreak.audit.episodes.episode import episode_of
from firstbreak.audit.episodes.setup import never_up, worker
from firstbreak.audit.sample import Sample, ToolCall, Turn


def up(*results: str, names: str = "abcdef") -> bool:
    calls = tuple(ToolCall(names[i], f'{{"n": {i}}}', r) for i, r in enumerate(results))
    episode = episode_of(Sample("p", "", turns=(Turn("assistant", "", calls),)))
    assert episode is not None
    return never_up(episode)


@pytest.mark.parametrize(
    ("results", "absent"),
    [
        (("Error: connection refused",), True),
        (("Error: connection refused", "Error: service unavailable"), True),
        (("Error: connection refused", "fine"), False),
        (("Error: slot 3 is taken",), False),
        (("Error: slot 3 is taken", "Error: no file a"), False),
        (("Error: E42", "Error: E42", "Error: E42"), True),
        (("Error: E42", "Error: E42"), False),
        (("fine",), False),
        ((), False),
    ],
)
def test_whether_the_environment_ever_came_up(results: tuple[str, ...], absent: bool) -> None:
    assert up(*results) is absent


def test_one_tool_that_always_refuses_is_not_the_environment() -> None:
    assert not up("Error: E42", "Error: E42", "Error: E42", names="aaaa")


def test_the_worker_is_that_of_the_log_or_else_the_file() -> None:
    a, b = Sample("p", "r", scores={"worker": 1.0}, source="x"), Sample("p", "r", scores={"worker": 2.0}, source="x")
    assert worker(a) != worker(b)
    assert worker(Sample("p", "r", source="x")) == worker(Sample("q", "s", source="x"))
    assert math.isnan(worker(Sample("p", "r")))
    assert float(__import__("numpy").float32(worker(a))) == worker(a)
