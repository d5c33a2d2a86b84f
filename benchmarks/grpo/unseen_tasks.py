"""Tasks of the runs that nobody had seen: none of them was used while the rules or the callback were written."""

from __future__ import annotations

import random

from benchmarks.grpo.tasks import DIGITS, LETTERS, Row, Task


def words(rng: random.Random, longest: int) -> list[str]:
    """Return 96 different words of up to `longest` letters."""
    words = {"".join(rng.choices(LETTERS, k=rng.randint(1, longest))) for _ in range(600)}
    return rng.sample(sorted(words), 96)


def _reversed(rng: random.Random) -> list[Row]:
    return [{"prompt": f"{word}>", "answer": word[::-1]} for word in words(rng, 4)]


def _doubled(rng: random.Random) -> list[Row]:
    return [{"prompt": f"{word}>", "answer": "".join(c + c for c in word)} for word in words(rng, 3)]


def _sums(rng: random.Random) -> list[Row]:
    rows = [{"prompt": f"{a}{b}>", "answer": str(a + b)} for a in range(10) for b in range(10)]
    return rng.sample(rows, 96)


def _sorted(rng: random.Random) -> list[Row]:
    words = {"".join(rng.choices(LETTERS, k=3)) for _ in range(600)}
    return [{"prompt": f"{word}>", "answer": "".join(sorted(word))} for word in rng.sample(sorted(words), 96)]


def _other_digits(answer: str, rng: random.Random) -> str:
    return "".join(rng.choice(DIGITS) for _ in range(rng.randint(1, 2)))


def other_letters(answer: str, rng: random.Random) -> str:
    """Return the letters in another order, one of them drawn anew."""
    changed = list(answer)
    rng.shuffle(changed)
    changed[rng.randrange(len(changed))] = rng.choice(LETTERS)
    return "".join(changed)


def too_short(answer: str, rng: random.Random) -> str:
    """Return the beginning of the answer."""
    return answer[: rng.randint(1, len(answer))]


UNSEEN_TASKS = {
    task.name: task
    for task in (
        Task("reverse", _reversed, other_letters, cap=8, known=0.35, learning_rate=7e-4),
        Task("sum", _sums, _other_digits, cap=6, known=0.35, hard_share=0.25, learning_rate=7e-4),
        Task("sort", _sorted, other_letters, cap=6, known=0.35, learning_rate=6e-4),
        Task("double", _doubled, too_short, cap=9, known=0.15, learning_rate=4e-4),
    )
}
"""Responses in `reverse` vary in length, in `sum` a quarter of the prompts is hopeless, in `double` they must grow."""
