"""Tasks of the fourth list that nobody had seen: none of them was used for the lists before it."""

from __future__ import annotations

import random

from benchmarks.grpo.second_tasks import following
from benchmarks.grpo.tasks import DIGITS, LETTERS, Row, Task
from benchmarks.grpo.unseen_tasks import other_letters, too_short, words


def swapped(word: str) -> str:
    """Return the word with its first and its last letter in each other's place."""
    return word[-1] + word[1:-1] + word[0] if len(word) > 1 else word


def ladder(letter: str, rungs: int) -> str:
    """Return so many letters on end, from this one."""
    found = letter
    while len(found) < rungs:
        found += following(found[-1])
    return found


def _swapped(rng: random.Random) -> list[Row]:
    return [{"prompt": f"{word}>", "answer": swapped(word)} for word in words(rng, 4)]


def _beheaded(rng: random.Random) -> list[Row]:
    found = {"".join(rng.choices(LETTERS, k=rng.randint(2, 5))) for _ in range(600)}
    return [{"prompt": f"{word}>", "answer": word[1:]} for word in rng.sample(sorted(found), 96)]


def _complements(rng: random.Random) -> list[Row]:
    rows = [{"prompt": f"{a}{b}>", "answer": f"{9 - a}{9 - b}"} for a in range(10) for b in range(10)]
    return rng.sample(rows, 96)


def _ladders(rng: random.Random) -> list[Row]:
    rows = [{"prompt": f"{letter}{n}>", "answer": ladder(letter, n)} for letter in LETTERS for n in range(1, 8)]
    return rng.sample(rows, 56)


def _other_digits(answer: str, rng: random.Random) -> str:
    return "".join(rng.choice(DIGITS) for _ in answer)


FOURTH_TASKS = {
    task.name: task
    for task in (
        Task("swap", _swapped, other_letters, cap=8, known=0.35, learning_rate=7e-4),
        Task("behead", _beheaded, other_letters, cap=8, known=0.35, learning_rate=7e-4),
        Task("complement", _complements, _other_digits, cap=6, known=0.35, hard_share=0.25, learning_rate=7e-4),
        Task("ladder", _ladders, too_short, cap=9, known=0.15, learning_rate=4e-4),
    )
}
"""In `swap` and `behead` lengths of prompts and answers vary, in `behead` the two differ; in `complement` a quarter of
the prompts is hopeless; in `ladder` responses must grow."""
