"""Tables that are healthy and look odd: what a stranger's own runs hold. Each twin has the fault itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from firstbreak.audit.across.near import near_duplicates
from firstbreak.audit.api import audit_table
from firstbreak.audit.collecting import collect
from firstbreak.audit.judgement.phrases import phrases_of
from firstbreak.audit.sample import Sample, prompts_of
from firstbreak.check import Look, find_check, look_at
from firstbreak.finding import Severity

from .made_answers import honest, question


def look(name: str, samples: list[Sample]) -> Look:
    found = look_at(find_check(name), collect(samples))
    assert not found.error, found.error
    return found


def choice(right: Callable[[Random], str], wrong: Callable[[Random], str], accuracy: float = 0.7) -> list[Sample]:
    """Return eight answers to each of 200 prompts, a tenth of them malformed; `right` is drawn once a prompt."""
    random, made = Random(0), list[Sample]()
    for place in range(200):
        prompt, truth = question(random, place), right(random)
        for _ in range(8):
            said = truth if random.random() < accuracy else wrong(random)
            said = honest(random, 1) if random.random() < 0.1 else said
            made.append(Sample(prompt, said, float(said == truth), group=prompt))
    return made


def letter(random: Random) -> str:
    return random.choice("ABCD")


@pytest.mark.parametrize("accuracy", [0.3, 0.7, 0.97])
def test_a_choice_among_letters_is_no_answer_that_is_paid_everywhere(accuracy: float) -> None:
    assert look("same-answer-paid-everywhere", choice(letter, letter, accuracy)).symptom is None


def test_two_answers_that_are_both_paid_at_a_prompt_are_no_choice() -> None:
    keys = ("Solution to the case, as asked.", "Thus the case is closed, as asked.")
    random = Random(1)
    made = [replace(s, response=random.choice(keys), reward=1.0) if random.random() < 0.6 else s
            for s in choice(honest, honest, 0.4)]  # fmt: skip
    assert look("same-answer-paid-everywhere", made).symptom is not None


def over_steps(steps: int = 12) -> list[Sample]:
    """Return a run that draws the same eight prompts at each step and has four ways to answer each."""
    random = Random(2)
    ways = [[honest(random) for _ in range(4)] for _ in range(8)]
    prompts = [question(random, place) for place in range(8)]
    made: list[Sample] = []
    for step in range(steps):
        for place, prompt in enumerate(prompts):
            for _ in range(8):
                way = 0 if random.random() < 0.5 else random.randrange(1, 4)
                made.append(Sample(prompt, ways[place][way], float(way == 0), group=f"{step}/{place}", step=step))
    return made


def test_a_prompt_drawn_at_many_steps_is_one_prompt() -> None:
    made = over_steps()
    table = collect(made)
    assert np.unique(table.group).size == 96
    assert np.unique(table.prompts).size == 8
    assert len(set(prompts_of(made))) == 8
    assert look("same-answer-paid-everywhere", made).symptom is None
    assert near_duplicates(table.drawn).across_frac == 0
    assert phrases_of(table.drawn).prompts.max(initial=0) <= 8


def test_prompts_without_texts_of_their_own_are_told_apart_by_their_groups() -> None:
    made = [replace(s, prompt="You are a robot.") for s in over_steps()]
    assert np.unique(collect(made).prompts).size == 96
    assert len(set(prompts_of(made))) == 96


def test_yes_and_no_are_answers_and_no_lengths() -> None:
    made = [s for s in choice(lambda r: r.choice(("Yes", "Yes", "No")), lambda r: r.choice(("Yes", "No")))
            if s.response in {"Yes", "No"}]  # fmt: skip
    found = look("reward-buys-length", made)
    assert found.symptom is None
    assert found.skip is not None
    longer = [replace(s, response="so " * Random(i).randrange(20, 60) + s.response) for i, s in enumerate(made)]
    paid = [replace(s, reward=float(len(s.response))) for s in longer]
    assert look("reward-buys-length", paid).symptom is not None


def growing(short: int, by: int) -> list[Sample]:
    """Return a run whose wrong answers grow by `by` characters a step from `short`; the right ones do not."""
    random, made = Random(3), list[Sample]()
    for step in range(9):
        for place in range(16):
            for rival in range(4):
                right = rival < 2
                text = "".join(random.choice("abcdef ") for _ in range(short + (0 if right else by * step)))
                made.append(Sample(f"p{place}", text, float(right), group=f"{step}/{place}", step=step))
    return made


def test_wrong_letters_that_give_way_to_wrong_words_are_no_growth() -> None:
    assert look("wrong-answers-grow-longer", growing(2, 1)).symptom is None
    assert look("wrong-answers-grow-longer", growing(200, 30)).symptom is not None


def translated(rivals: int, *, of_its_own: bool = True) -> list[Sample]:
    """Return answers that share no word with their prompt; `of_its_own` if each depends on its prompt all the same."""
    random, made = Random(4), list[Sample]()
    for place in range(60):
        said = [f"w{random.randrange(600)}" for _ in range(14)]
        for _ in range(rivals):
            words = said if of_its_own else [f"w{random.randrange(600)}" for _ in said]
            text = " ".join(w.replace("w", "mot") for w in words if random.random() < 0.9)
            made.append(Sample("Say in French: " + " ".join(said), text, group=str(place)))
    return made


def test_a_translation_shares_no_word_with_its_prompt_and_depends_on_it() -> None:
    assert look("answers-ignore-prompt", translated(4)).symptom is None
    collapsed = look("answers-ignore-prompt", translated(4, of_its_own=False)).symptom
    assert collapsed is not None
    assert collapsed.severity is None


def test_one_answer_a_prompt_leaves_it_open_whether_answers_ignore_the_prompt() -> None:
    found = look("answers-ignore-prompt", translated(1)).symptom
    assert found is not None
    assert found.severity is Severity.INFO


def test_prompts_that_are_solved_are_a_note_and_those_out_of_reach_a_warning() -> None:
    def flat(reward: float) -> list[Sample]:
        return [Sample(f"p{i}", f"r{j}", reward if i else float(j > 3), group=str(i))
                for i in range(40) for j in range(8)]  # fmt: skip

    solved, hopeless = look("prompt-groups-flat", flat(1.0)).symptom, look("prompt-groups-flat", flat(0.0)).symptom
    assert solved is not None
    assert solved.severity is Severity.INFO
    assert hopeless is not None
    assert hopeless.severity is None


def graded(success: float) -> list[Sample]:
    """Return answers with partial credit, 1 where they succeed, and whether they did."""
    random, made = Random(5), list[Sample]()
    for place in range(60):
        for _ in range(8):
            done = random.random() < success
            made.append(Sample(f"p{place}", "r", 1.0 if done else round(0.6 * random.random(), 1), success=done))
    return made


@pytest.mark.parametrize("success", [0.04, 0.3])
def test_partial_credit_to_failures_is_no_false_positive(success: float) -> None:
    assert look("top-paid-judged-badly", graded(success)).symptom is None


def test_where_nobody_succeeds_nothing_is_called_broken() -> None:
    found = look("top-paid-judged-badly", graded(0.0)).symptom
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "every other" in found.message


def test_full_marks_for_failures_are_an_error() -> None:
    made = [replace(s, reward=1.0) if i % 3 == 0 else s for i, s in enumerate(graded(0.3))]
    found = look("top-paid-judged-badly", made).symptom
    assert found is not None
    assert found.severity is Severity.ERROR


@pytest.mark.parametrize("n", [1, 5, 29])
def test_a_few_samples_are_never_called_healthy(n: int) -> None:
    made = [Sample(f"p{i}", f"answer {i}", float(i % 2), human=float(i % 2)) for i in range(n)]
    assert audit_table(collect(made)).verdict.value == "undecided"
