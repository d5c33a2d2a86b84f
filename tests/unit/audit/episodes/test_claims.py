"""What an agent says of its own work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.episodes.claims import claims_act, claims_done, echoes, invented
from firstbreak.audit.episodes.episode import Episode, read
from firstbreak.audit.sample import Sample, ToolCall, Turn


def episode(last: str, *results: str, asked: str = "Do it.") -> Episode:
    calls = tuple(ToolCall("calculator", '{"a": 7}', r) for r in results)
    turns = (Turn("user", asked), Turn("assistant", "Now.", calls), Turn("assistant", last))
    return Episode(Sample(asked, last, turns=turns), tuple(read(c) for c in calls))


@pytest.mark.parametrize(
    "text",
    ["I have booked slot 3.", "I've sent the mail.", "We just updated it.", "The file has been saved.",
     "It has now been successfully deployed.", "The table is now booked.", "I also wrote the sum."],
)  # fmt: skip
def test_acts_claimed(text: str) -> None:
    assert claims_act(text)
    assert claims_done(text)


@pytest.mark.parametrize("text", ["Done.", "Task completed!", "All set.", "Successfully finished"])
def test_done_without_an_act(text: str) -> None:
    assert claims_done(text)
    assert not claims_act(text)


@pytest.mark.parametrize(
    "text",
    ["The answer is 12.", "I could not book it.", "It has not been saved.", "I was unable to finish.", "",
     "I would have booked it if I could.", "The saved file lies in out.txt.", "Booking is closed."],
)  # fmt: skip
def test_no_claim(text: str) -> None:
    assert not claims_act(text)
    assert not claims_done(text)


@pytest.mark.parametrize(
    ("last", "results", "count"),
    [
        ("The calculator returned 731.", ("12",), 1),
        ("The calculator returned 731.", ("731",), 0),
        ("The calculator returned 731.", ("total: 731.0 units",), 0),
        ("The tool says 3.1.", ("3.14159",), 0),
        ("The tool says 3.2.", ("3.14159",), 1),
        ("The search shows 1,234 hits.", ("1234",), 0),
        ("The tool returned 7.", ("12",), 0),
        ("So the sum is 731.", ("12",), 0),
        ("The output shows -42.", ("42",), 0),
        ("The calculator returned 731 and the API said 99.", ("12",), 2),
    ],
)
def test_numbers_that_no_tool_returned(last: str, results: tuple[str, ...], count: int) -> None:
    assert invented(episode(last, *results)) == count


def test_a_number_of_the_user_is_not_invented() -> None:
    assert invented(episode("The query says 731.", "ok", asked="Is it 731?")) == 0


LONG = " ".join(f"word{i}" for i in range(60))


def test_a_whole_result_as_the_answer_is_an_echo() -> None:
    assert echoes(episode(LONG, "short", LONG))
    assert echoes(episode("Here: " + LONG, LONG))
    assert not echoes(episode("word3 word4", LONG))
    assert not echoes(episode(" ".join(f"other{i}" for i in range(60)), LONG))
    assert not echoes(episode(LONG))


@given(st.text(max_size=400))
def test_any_text_is_judged(text: str) -> None:
    assert claims_done(text) in (True, False)
    assert claims_act(text) in (True, False)
    invented(episode(f"The tool returned {text}", text))
    assert echoes(episode(text, text)) in (True, False)
