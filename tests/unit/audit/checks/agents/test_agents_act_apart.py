"""Agents that end in the same words have not done the same: what they called counts as their answer."""

from __future__ import annotations

from random import Random

import pytest

from firstbreak.audit.collecting import collect
from firstbreak.audit.sample import Sample, ToolCall, Turn
from firstbreak.check import find_check, look_at

SAID = "I have looked at every file that was named and the tests pass now."


def episodes(*, apart: bool) -> list[Sample]:
    """Return six episodes of each of 30 tasks with one closing line; `apart` if each has calls of its own."""
    random, made = Random(0), list[Sample]()
    for task in range(30):
        for _ in range(6):
            names = [f"file {random.randrange(10**6) if apart else place} line {task}" for place in range(4)]
            calls = tuple(ToolCall("read", f'{{"path": "{name}"}}', "ok") for name in names)
            turns = (Turn("user", f"Task {task}."), Turn("assistant", "", calls), Turn("assistant", SAID))
            made.append(Sample(f"Task {task}.", SAID, float(random.random() < 0.5), group=str(task), turns=turns))
    return made


@pytest.mark.parametrize("name", ["rivals-identical", "rivals-alike", "equal-answers-paid-differently"])
def test_equal_words_after_other_calls_are_no_equal_answers(name: str) -> None:
    assert look_at(find_check(name), collect(episodes(apart=True))).symptom is None
    assert look_at(find_check(name), collect(episodes(apart=False))).symptom is not None
