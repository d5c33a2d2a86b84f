"""Dumps of token ids alone: what could not be read is no finding, and no good news either."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from firstbreak.audit.api import audit_table
from firstbreak.audit.collecting import collect
from firstbreak.audit.sample import Sample, Tokens, done_by
from firstbreak.check import find_check, look_at


def ids_only(*, apart: bool = True) -> list[Sample]:
    """Return six answers to each of 40 prompts, known by their token ids; with a human's score that follows the pay."""
    random, made = Random(0), list[Sample]()
    for place in range(40):
        for _ in range(6):
            reward = float(random.random() < 0.5)
            ids = tuple(random.randrange(500) for _ in range(12)) if apart else (1,) * 12
            tokens = Tokens(ids=(place, *ids), start=1)
            made.append(Sample("", "", reward, group=str(place), human=reward, tokens=tokens))
    return made


def test_answers_are_told_apart_by_their_tokens() -> None:
    table = collect(ids_only())
    assert np.unique(table.response).size == table.n
    assert look_at(find_check("equal-answers-paid-differently"), table).symptom is None
    assert look_at(find_check("equal-answers-paid-differently"), collect(ids_only(apart=False))).symptom is not None
    assert done_by(ids_only()[0]).split() == [str(i) for i in ids_only()[0].tokens.ids[1:]]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["repetition-paid", "formatting-paid", "trivial-answer-paid", "keywords-paid"])
def test_what_needs_words_says_that_it_could_not_look(name: str) -> None:
    found = look_at(find_check(name), collect(ids_only()))
    assert found.symptom is None
    assert found.skip is not None
    assert found.skip.withholds


def test_without_words_nothing_is_called_healthy() -> None:
    assert audit_table(collect(ids_only())).verdict.value == "undecided"


def test_an_empty_answer_of_a_log_with_texts_is_still_an_answer() -> None:
    table = collect([Sample("p", "", 1.0, group=str(i)) for i in range(4)])
    assert any(name.startswith("text/") for name in table.columns)
