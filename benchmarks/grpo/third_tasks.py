"""Tasks of the third list that nobody had seen: none of them was used for the lists before it."""

from __future__ import annotations

import random

from benchmarks.grpo.tasks import DIGITS, LETTERS, Row, Task
from benchmarks.grpo.unseen_tasks import other_letters, too_short, words


def next_digit(digit: str) -> str:
    """Return the next digit; 0 follows 9."""
    return DIGITS[(DIGITS.index(digit) + 1) % len(DIGITS)]


def _rotated(rng: random.Random) -> list[Row]:
    return [{"prompt": f"{word}>", "answer": word[1:] + word[:1]} for word in words(rng, 4)]


def _middles(rng: random.Random) -> list[Row]:
    found = {"".join(rng.choices(LETTERS, k=3)) for _ in range(600)}
    return [{"prompt": f"{word}>", "answer": word[1]} for word in rng.sample(sorted(found), 96)]


def _successors(rng: random.Random) -> list[Row]:
    rows = [{"prompt": f"{a}{b}>", "answer": next_digit(a) + next_digit(b)} for a in DIGITS for b in DIGITS]
    return rng.sample(rows, 96)


def _closed(rng: random.Random) -> list[Row]:
    return [{"prompt": f"{word}>", "answer": word + word[0] + word[0]} for word in words(rng, 4)]


def _other_letter(answer: str, rng: random.Random) -> str:
    return rng.choice(LETTERS)


def _other_digits(answer: str, rng: random.Random) -> str:
    return "".join(rng.choice(DIGITS) for _ in answer)


THIRD_TASKS = {
    task.name: task
    for task in (
        Task("rotate", _rotated, other_letters, cap=8, known=0.35, learning_rate=7e-4),
        Task("middle", _middles, _other_letter, cap=6, known=0.35, learning_rate=5e-4),
        Task("successor", _successors, _other_digits, cap=6, known=0.35, hard_share=0.25, learning_rate=7e-4),
        Task("close", _closed, too_short, cap=9, known=0.15, learning_rate=4e-4),
    )
}
"""In `rotate` and `close` lengths of prompts and answers vary, in `middle` and `successor` neither does; in `successor`
a quarter of the prompts is hopeless; in `close` responses must grow."""
