"""Altered answers, other prompts' answers and the same ones later, put to scorers that are right and wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from firstbreak.monitor.adapters.parts.trl.rows import CHANGED, FOREIGN, TEXT_OFF, DataRows, texts_off
from firstbreak.monitor.adapters.parts.trl.scorer_probes import (
    ALTERED,
    NOTHING,
    QUESTION,
    REUSED,
    STANDING,
    ScorerProbes,
    ways,
)

WORDS = ["abca", "bcdb", "cdec", "defd", "efge", "fghf"]
ROWS = [{"prompt": f"{word}>", "answer": word} for word in WORDS]


def probes(one: Callable[[str, str], float]) -> tuple[ScorerProbes, Any]:
    def score(rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> Any:
        return np.array([one(text, row["answer"]) for row, text in zip(rows, answers, strict=True)])

    return ScorerProbes(score, 0.9), score


def exact(text: str, answer: str) -> float:
    return float(text == answer)


@pytest.mark.parametrize(
    ("one", "altered", "reused"),
    [
        (exact, 0.0, 0.0),
        (lambda text, answer: float(sorted(text) == sorted(answer)), 1.0, 0.0),
        (lambda text, answer: float(text[-1:] == answer[-1:]), 1.0, None),
        (lambda text, _: float(text in WORDS), None, 1.0),
        (lambda text, answer: sum(a == b for a, b in zip(text, answer, strict=False)) / max(len(text), 4), 0.0, 0.0),
    ],
    ids=["exact", "ignores the order", "reads the end", "ignores the prompt", "pays in part"],
)
def test_what_a_scorer_pays(one: Any, altered: float | None, reused: float | None):
    probe, score = probes(one)
    others = WORDS[1:] + WORDS[:1]
    own, other = score(ROWS, WORDS), score(ROWS, others)
    found = probe.altered(ROWS, WORDS, own, other) | probe.reused(ROWS, WORDS, own, other, np.ones(6, bool))
    if altered == 0.0:
        assert found[ALTERED] < 0.5
    else:
        assert found.get(ALTERED) == altered
    assert found.get(REUSED) == reused


def test_the_same_answers_are_scored_again():
    price = [1.0]
    probe, _ = probes(lambda text, answer: price[0] * exact(text, answer))
    assert probe.standing(ROWS, WORDS) == {STANDING: 1.0}
    price[0] = 2.0
    assert probe.standing(ROWS[:1], ["else"]) == {STANDING: 2.0}


def test_a_choice_of_several_letters_has_no_order():
    assert ways(["ABD", "AC", "BCD"])[0] == [None, None, None]
    assert ways(["12", "21", "a b", "abba"])[0] == ["21", "12", None, "bbaa"]


@pytest.mark.full  # needs the library `datasets`, which comes with TRL
def test_rows_are_those_of_the_data():
    from datasets import Dataset

    data = DataRows(Dataset.from_list(ROWS), "answer")
    assert data.note(ROWS, "answer") == {FOREIGN: 0.0, CHANGED: 0.0}
    cut = [{**row, "answer": row["answer"][:2]} for row in ROWS[:3]]
    assert data.note([*cut, *ROWS[3:]], "answer")[CHANGED] == 0.5
    assert data.note([{"prompt": "else", "answer": "x"}, ROWS[0]], "answer") == {FOREIGN: 0.5, CHANGED: 0.0}
    assert DataRows(iter(ROWS), "answer").note(ROWS, "answer") == {}


class Letters:
    """A tokenizer of one letter a token."""

    def decode(self, ids: Sequence[int], skip_special_tokens: bool) -> str:
        return "".join(chr(96 + i) for i in ids if i)


def test_texts_are_those_of_their_tokens():
    trainer = type("Trainer", (), {"processing_class": Letters()})()
    assert texts_off(trainer, ["ab", "c"], [[1, 2, 0], [3]]) == {TEXT_OFF: 0.0}
    assert texts_off(trainer, ["ab~", "c"], [[1, 2, 0], [3]]) == {TEXT_OFF: 0.5}
    assert texts_off(trainer, [[{"role": "assistant"}]], [[1]]) == {}


def parsed(text: str, answer: str) -> float:
    """A scorer that pays what it cannot parse."""
    return exact(text, answer) if text.isalnum() else 1.0


@pytest.mark.parametrize(
    ("one", "paid"),
    [(exact, 0.0), (parsed, 1.0), (lambda text, answer: 1.0 if text == answer else 0.3 * (not text), 0.0)],
    ids=["exact", "fails open", "a trifle for silence"],
)
def test_no_answer_at_all_earns_nothing(one: Any, paid: float):
    probe, score = probes(one)
    own, other = score(ROWS, WORDS), score(ROWS, WORDS[1:] + WORDS[:1])
    assert probe.nothing(ROWS, WORDS, own, other) == {NOTHING: paid}


def test_a_question_taken_for_the_answer_is_paid():
    turned = [word[::-1] for word in WORDS]

    def asked(right: Callable[[str, str], bool], rows: Any = ROWS, answers: Any = turned) -> dict[str, float]:
        def score(these: Any, texts: Sequence[str]) -> Any:
            return np.array([float(right(text, row["prompt"])) for row, text in zip(these, texts, strict=True)])

        own, other = score(rows, answers), score(rows, answers[1:] + answers[:1])
        return ScorerProbes(score, 0.9).question(rows, answers, own, other)

    assert asked(lambda text, prompt: text == prompt[:-1]) == {QUESTION: 1.0}
    assert asked(lambda text, prompt: text == prompt) == {QUESTION: 1.0}
    assert asked(lambda text, prompt: text == prompt[-2::-1]) == {}  # the right answers are paid: nothing is asked
    assert asked(lambda text, prompt: ">" in text) == {QUESTION: 0.0}  # the form, whoever's question it is
    talks = [{"prompt": [{"role": "user", "content": f"{word}?"}]} for word in WORDS]
    assert asked(lambda text, prompt: text == prompt[0]["content"], talks) == {QUESTION: 1.0}
