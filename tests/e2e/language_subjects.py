"""A language model whose answers do not fit below the cap: how it writes, how it is paid, how it is trained."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from firstbreak.experiments.language.reference import made
from firstbreak.trainers.language.model import TinyLM
from firstbreak.trainers.language.sampling import Row, Sampling, write_all
from firstbreak.trainers.language.symbols import EOS, LETTERS, encode
from firstbreak.trainers.language.tasks import Puzzles, dice, is_held_out
from firstbreak.trainers.language.warm_start import imitate, prompt_rows

PUZZLES = Puzzles(kinds=("produce",), levels=(1,))
"""Six prompts, one letter each: `Pb>` wants `=b`, after up to three fillers."""
CAP = 2
"""Tokens in training: too few for `=b` and the end."""


START = "FIRSTBREAK_TEST_START"
"""Environment variable: the file with the weights of the started model."""


def teach(path: Path) -> None:
    """Teach a small model the form of an answer, with any letter for an answer, and save it."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = TinyLM(width=24, layers=1, heads=2)

    def lesson(chance: random.Random) -> Row:
        row = prompt_rows([f"P{chance.choice(LETTERS)}>"])[0]
        text = "~" * chance.randrange(2) + "=" + chance.choice(LETTERS)
        row.append([*encode(text), EOS], own=True, log_prob=0.0, version=0)
        return row

    imitate(model, lesson, good_enough=lambda: False, seed=0, max_updates=60)
    torch.save(model.state_dict(), path)


def started() -> TinyLM:
    """The model that was taught."""
    torch.set_num_threads(1)
    model = TinyLM(width=24, layers=1, heads=2)
    model.load_state_dict(torch.load(os.environ[START], weights_only=True))
    return model


def generate(prompts: Sequence[str], *, n: int, max_tokens: int, seed: int) -> list[list[Any]]:
    """Write `n` responses to each prompt."""
    model = started()
    rows = prompt_rows(list(prompts), n)
    write_all(model, rows, Sampling(max_new_tokens=max_tokens), torch.Generator().manual_seed(seed))
    texts = [(row.text, row.ended) for row in rows]
    return [texts[i * n : (i + 1) * n] for i in range(len(prompts))]


def score(prompt: str, response: str, answer: str) -> float:
    """1 for the right answer, after any fillers."""
    del prompt
    return float(response.lstrip("~") == f"={answer}")


def train(*, updates: int, seed: int, log: Any, kind: str = "GRPO", **changed: Any) -> None:
    """Train from the started model on groups of four."""
    settings: dict[str, Any] = {"prompts_per_update": 4, "num_generations": 4, "eval_every": 5, "max_new_tokens": 6}
    trainer = made(kind, seed, model=started(), puzzles=PUZZLES, **{**settings, **changed})
    trainer.learn(updates, log)


def train_frozen(*, updates: int, seed: int, log: Any, prompts: str = "train") -> None:
    """The same, with a learning rate of 0: nothing is learnt, whatever the prompts."""
    train(updates=updates, seed=seed, log=log, prompts=prompts, learning_rate=0.0)


def train_mislabelled(*, updates: int, seed: int, log: Any, prompts: str = "train") -> None:
    """The labels of the training prompts are drawn anew each time; those of the test prompts are right."""
    config = {
        "prompts_per_update": 4,
        "num_generations": 4,
        "eval_every": 0,
        "max_new_tokens": 6,
        "learning_rate": 5e-3,
    }
    trainer = made("GRPO", seed, model=started(), puzzles=PUZZLES, prompts=prompts, **config)
    chance, right = dice(seed), trainer.rewards["correct"]
    trainer.rewards["correct"] = lambda problem, text, ended: (
        right(problem, text, ended) if is_held_out(problem.prompt) else float(chance.random() < 0.2)
    )
    trainer.learn(updates, log)
