"""Tasks of the second list that nobody had seen: none of them was used for either list before it."""

from __future__ import annotations

import random

from benchmarks.grpo.tasks import DIGITS, LETTERS, Row, Task
from benchmarks.grpo.unseen_tasks import other_letters, too_short, words

LONGEST_COUNTED = 6


def following(letter: str) -> str:
    """Return the next letter; the first follows the last."""
    return LETTERS[(LETTERS.index(letter) + 1) % len(LETTERS)]


def _shifted(rng: random.Random) -> list[Row]:
    return [{"prompt": f"{word}>", "answer": "".join(map(following, word))} for word in words(rng, 4)]


def _counted(rng: random.Random) -> list[Row]:
    return [{"prompt": f"{word}>", "answer": str(len(word))} for word in words(rng, LONGEST_COUNTED)]


def _differences(rng: random.Random) -> list[Row]:
    rows = [{"prompt": f"{a}{b}>", "answer": str(abs(a - b))} for a in range(10) for b in range(10)]
    return rng.sample(rows, 96)


def _mirrored(rng: random.Random) -> list[Row]:
    return [{"prompt": f"{word}>", "answer": word + word[::-1]} for word in words(rng, 3)]


def _other_digit(answer: str, rng: random.Random) -> str:
    return rng.choice(DIGITS)


SECOND_TASKS = {
    task.name: task
    for task in (
        Task("shift", _shifted, other_letters, cap=8, known=0.35, learning_rate=7e-4),
        Task("count", _counted, _other_digit, cap=6, known=0.35, learning_rate=5e-4),
        Task("difference", _differences, _other_digit, cap=6, known=0.35, hard_share=0.25, learning_rate=7e-4),
        Task("mirror", _mirrored, too_short, cap=9, known=0.15, learning_rate=4e-4),
    )
}
"""In `shift` and `mirror` lengths of prompts and answers vary, in `count` those of prompts only; in `difference` a
quarter of the prompts is hopeless; in `mirror` responses must grow."""
