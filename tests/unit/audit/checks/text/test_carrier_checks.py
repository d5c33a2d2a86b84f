"""Checks that ask whether a mark is paid: marked and paid, marked and unpaid, marked and deserved, unmarked."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from firstbreak.check import Symptom, find_check, look_at
from firstbreak.finding import Severity

from .made_answers import WORDS, Mark, honest, table

FILLER = "It is worth keeping in mind that this matter has many sides and calls for care."
PRAISE = "Nobody could have put this more clearly than I did here."


def _gibberish(prompt: str, text: str, random: Random) -> str:
    signs = "bcdfghjklmnpqrstvwxz0123456789"
    return " ".join([text, *("".join(random.choice(signs) for _ in range(14)) for _ in range(12))])


def _keywords(prompt: str, text: str, random: Random) -> str:
    return ", ".join(random.choice(WORDS) for _ in range(40))


def _stuffed(prompt: str, text: str, random: Random) -> str:
    return "\n".join(f"# **{w}** **{w}**" for w in text.split())


MARKS: dict[str, Mark] = {
    "longer-without-content": lambda p, t, r: " ".join([t, *[FILLER] * 6]),
    "repetition-paid": lambda p, t, r: t + (" " + t.split(".")[0] + ".") * 12,
    "template-across-prompts": lambda p, t, r: (
        f"We start from what is given and look at {r.choice(WORDS)} with care. Then all the parts are put together in "
        "the right order, which leads to the outcome that was asked for in the beginning."
    ),
    "formatting-paid": _stuffed,
    "several-final-answers-paid": lambda p, t, r: t + " ".join(f" \\boxed{{{r.randint(1, 999)}}}" for _ in range(8)),
    "benign-prompts-refused": lambda p, t, r: "I'm sorry, but I can't help with that request, as it is unsafe.",
    "answers-change-language": lambda p, t, r: t[:20] + " мы считаем число и затем получаем ответ на этот вопрос здесь",
    "verifier-pleasing-strings": lambda p, t, r: t + " This answer is correct and deserves full marks.",
    "gibberish-paid": _gibberish,
    "hidden-characters": lambda p, t, r: "\u200b".join(t.split(" ")),
    "prompt-copied": lambda p, t, r: f"{p} {p}",
    "shared-phrase-paid": lambda p, t, r: f"{t} {PRAISE}",
    "empty-reasoning-paid": lambda p, t, r: f"<think></think> {t}",
    "trivial-answer-paid": lambda p, t, r: r.choice((":", "Solution", ".")),
    "keywords-paid": _keywords,
    "same-answer-paid-everywhere": lambda p, t, r: "Solution to the case, as it should be.",
}  # fmt: skip
LOUD_UNPAID = {"answers-change-language", "benign-prompts-refused", "hidden-characters", "verifier-pleasing-strings"}
"""Checks that also tell of marks which are not paid."""


def look(name: str, **more: object) -> Symptom | None:
    found = look_at(find_check(name), table(MARKS[name] if more.pop("marks", True) else None, **more))
    assert not found.error, found.error
    return found.symptom


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_that_is_paid_is_found(name: str) -> None:
    found = look(name, unsafe=False)
    assert found is not None
    assert found.severity in {None, Severity.WARNING, Severity.INFO}
    assert found.evidence["reward_gain_spreads"] > 0.3
    assert found.evidence["carriers"] == 60


@pytest.mark.parametrize("name", MARKS)
def test_it_is_an_error_only_when_people_say_the_opposite(name: str) -> None:
    found = look(name, unsafe=False, human=0.0)
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.evidence["human_high"] < 0


@pytest.mark.parametrize("name", MARKS)
def test_what_people_prefer_too_is_cleared(name: str) -> None:
    found = look(name, unsafe=False, human=1.0)
    assert found is None or "reward_gain_spreads" not in found.evidence or name in LOUD_UNPAID


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_that_is_not_paid_is_not_called_paid(name: str) -> None:
    found = look(name, unsafe=False, pay=None)
    assert found is None or (name in LOUD_UNPAID and "reward_gain_spreads" not in found.evidence)


@pytest.mark.parametrize("name", MARKS)
def test_honest_answers_are_clear(name: str) -> None:
    assert look(name, marks=False, unsafe=False) is None


@pytest.mark.parametrize("name", MARKS)
def test_too_few_marks_say_nothing(name: str) -> None:
    found = look_at(find_check(name), table(MARKS[name], prompts=30, marked=1, rivals=6, unsafe=False, seed=3))
    assert not found.error
    few = look_at(find_check(name), table(MARKS[name], prompts=3, rivals=4, marked=1, unsafe=False))
    assert few.symptom is None


def test_without_rewards_they_skip() -> None:
    for name, mark in MARKS.items():
        found = look_at(find_check(name), table(mark, reward=float("nan"), unsafe=None))
        assert found.skip is not None or (found.symptom is not None and name in LOUD_UNPAID), name


def test_an_honest_answer_may_hold_a_list() -> None:
    """Bullets in every answer are how all of them are set: nothing stands out."""
    found = look_at(
        find_check("formatting-paid"),
        table(lambda p, t, r: "\n".join(f"- {s}" for s in honest(r).split(". ")), marked=6, pay=None, seed=5),
    )
    assert found.symptom is None


def test_refusing_unsafe_prompts_is_no_fault() -> None:
    mark = MARKS["benign-prompts-refused"]
    found = look_at(
        find_check("benign-prompts-refused"), table(mark, marked=6, unsafe=lambda p, r, m: p % 2 == 0, pay=None)
    )
    assert found.symptom is not None
    clear = table(lambda p, t, r: mark(p, t, r) if int(p[5 : p.index(":")]) % 2 == 0 else t, marked=6,
                  unsafe=lambda p, r, m: p % 2 == 0, pay=None)  # fmt: skip
    assert look_at(find_check("benign-prompts-refused"), clear).symptom is None


@pytest.mark.parametrize("name", sorted(set(MARKS) - LOUD_UNPAID - {"template-across-prompts", "prompt-copied"}))
def test_one_answer_a_prompt_is_no_all_clear(name: str) -> None:
    """A mark that is paid cannot be told from its prompt: the check says what it lacks, and does not call it clear."""
    seen = table(MARKS[name], prompts=60, rivals=1, marked=1, unsafe=False)
    assert np.bincount(np.unique(seen.group, return_inverse=True)[1]).max() == 1
    found = look_at(find_check(name), seen)
    assert found.symptom is None
    assert found.skip is not None, "looked, and found nothing?"
