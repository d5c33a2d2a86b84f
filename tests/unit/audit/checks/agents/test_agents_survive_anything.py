"""Whatever a log holds, measures and checks of agents neither raise nor take long."""

from __future__ import annotations

import math
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstbreak.audit.sample import Role, Sample, Tokens, ToolCall, Turn
from firstbreak.audit.seen import Seen
from tests.audit.agent_tables import looks, measures, table_of

WORDS = st.text(max_size=12) | st.sampled_from(
    [
        "{",
        '{"path": "tests/a"}',
        "Error: x",
        "Done, I have booked it.",
        "rm -rf tests",
        "The tool returned 4242.",
        "\ud800",
    ]
)
FLAG = st.none() | st.booleans()
NUMBER = st.sampled_from([math.nan, 0.0, 1.0, -3.5, 1e30, math.inf, -math.inf])
CALLS = st.builds(ToolCall, WORDS, WORDS, WORDS, FLAG, FLAG, NUMBER)
ROLES = st.sampled_from(["system", "user", "assistant", "tool"])


def turn(role: Role, text: str, calls: list[ToolCall]) -> Turn:
    return Turn(role, text, tuple(calls))


TURNS = st.lists(st.builds(turn, ROLES, WORDS, st.lists(CALLS, max_size=4)), max_size=6).map(tuple)
TOKENS = st.none() | st.builds(Tokens, st.just(()), st.just(0), st.lists(st.integers(0, 1), max_size=5).map(tuple))
SAMPLES = st.builds(
    Sample, WORDS, WORDS, NUMBER, group=st.sampled_from(["", "a", "b"]), step=NUMBER, success=FLAG, truncated=FLAG,
    turns=TURNS, tokens=TOKENS, scores=st.dictionaries(st.sampled_from(["worker", "accepted", "noop_reward"]), NUMBER),
)  # fmt: skip


@given(st.lists(SAMPLES, max_size=12), st.sampled_from([1, 6]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_any_samples_are_measured_and_looked_at(samples: list[Sample], times: int) -> None:
    for look in looks(table_of(samples * times)).values():
        assert look.error == ""
        assert look.symptom is None or len(look.symptom.message) <= 120


LONG = (
    "a" * 100_000,
    "." * 100_000,
    "I have " * 15_000,
    "{" * 100_000,
    '{"parameters":' * 8_000,
    "rm " * 30_000,
    "[" * 90_000,
)


@pytest.mark.parametrize("text", LONG, ids=lambda t: t[:6])
def test_long_texts_cost_little(text: str) -> None:
    call = ToolCall("bash", '{"command": "' + text[:4000].replace('"', "'") + '"}', text)
    turns = (Turn("system", text), Turn("user", text), Turn("assistant", text, (call, ToolCall("x", text, text))))
    seen = Seen(Sample("p", "r", 1.0, turns=turns))
    start = process_time()
    for one in measures():
        one.take(seen)
    assert process_time() - start < 2.0
