"""What responses take up of their prompts, and whether reasoning holds words, against slow twins."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.audit.measures.text_reasoning import reasoning
from firstbreak.audit.measures.text_topic import topic
from firstbreak.audit.sample import Sample
from firstbreak.audit.seen import Seen

WORDS = ["river,", "stone", "the", "Stone", "of", "lantern", ",", "a", "garden"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join)


@given(TEXT, TEXT)
@settings(max_examples=80, deadline=None)
def test_topic(prompt: str, response: str) -> None:
    found = topic.take(Seen(Sample(prompt, response)))
    assert found is not None
    asked, said = ([w for w in re.findall(r"\w+", t.lower()) if len(w) >= 4] for t in (prompt, response))
    words = re.findall(r"\w+", response)
    slow = (
        len([w for w in set(said) if w in asked]) / len(set(said)) if said and asked else math.nan,
        len([w for w in set(asked) if w in said]) / len(set(asked)) if asked else math.nan,
        response.count(",") / len(words) if words else math.nan,
    )
    assert found == pytest.approx(slow, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "words", "empty"),
    [
        ("<think></think> 7", 0, 1),
        ("<THINK>ok</THINK> 7", 1, 1),
        ("<think>four words are few</think> 7", 4, 1),
        ("<think>five words are just enough</think> 7", 5, 0),
        ("<think>a b c</think> and <think>d e f</think>", 6, 0),
        ("no tags </b> at all", math.nan, 0),
        ("<think>never closed", math.nan, 0),
    ],
)
def test_reasoning(text: str, words: float, empty: float) -> None:
    found = reasoning.take(Seen(Sample("q", text)))
    assert found == pytest.approx((words, empty), nan_ok=True)
