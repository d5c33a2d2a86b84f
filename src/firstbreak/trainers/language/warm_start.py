"""Supervised warm start: the model learns the form of an answer, and to solve about half of the problems."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch.optim import Adam

from .model import TinyLM, token_scores
from .sampling import Row, Sampling, collate, write_all
from .symbols import BOS, DIGITS, EOS, ID, LETTERS, encode
from .tasks import Puzzles, dice, right_response, solved_frac

LOOK_EVERY = 10
"""Updates between two looks at the pass rate. Engineering default."""
FILLERS = 3
"""Most fillers before an answer. Engineering default: lengths must differ, or no rule on length could be tried."""

ERRORS_FRAC = 0.4
"""Share of the demonstrations whose answer has one wrong symbol. The model learns more than it shows: reinforcement
learning has something to bring out, as with a real base model. Engineering default."""

Lesson = Callable[[random.Random], Row]
"""Draws one prompt with a response to imitate; tokens with `own` true are learned."""


def imitate(
    model: TinyLM, lesson: Lesson, *, good_enough: Callable[[], bool], seed: int, max_updates: int = 600
) -> int:
    """Teach `model` by maximum likelihood until `good_enough()` says so; return the updates made.

    Args:
        model: Changed in place.
        lesson: Where examples come from, 64 an update.
        good_enough: Asked every `LOOK_EVERY` updates.
        seed: Of the examples.
        max_updates: The end in any case.
    """
    chance = dice(seed)
    optimiser: Any = Adam(model.parameters(), lr=3e-3)
    for update in range(1, max_updates + 1):
        batch = collate([lesson(chance) for _ in range(64)])
        log_prob, _ = token_scores(model, batch["ids"], batch["attention"])
        optimiser.zero_grad()
        cast(Any, -log_prob[batch["loss_mask"]].mean()).backward()
        optimiser.step()
        if update % LOOK_EVERY == 0 and good_enough():
            return update
    return max_updates


def warm_start(model: TinyLM, puzzles: Puzzles, *, pass_rate: float = 0.4, seed: int = 0) -> int:
    """Teach `model` until it solves this share of 96 problems at temperature 1; return the updates made."""
    draws, chance = torch.Generator().manual_seed(seed), dice(seed)

    def lesson(chance: random.Random) -> Row:
        problem = puzzles.draw(1, chance)[0]
        answer = [*encode(right_response(problem, chance.randrange(FILLERS + 1))), EOS]
        if chance.random() < ERRORS_FRAC:
            wrong = chance.randrange(len(problem.answer))
            answer[-2 - wrong] = ID[chance.choice(LETTERS if problem.answer[0] in LETTERS else DIGITS)]
        row = prompt_rows([problem.prompt])[0]
        row.append(answer, own=True, log_prob=0.0, version=0)
        return row

    def good_enough() -> bool:
        problems = puzzles.draw(96, chance)
        rows = prompt_rows([problem.prompt for problem in problems])
        write_all(model, rows, Sampling(), draws)
        return solved_frac(problems, [row.text for row in rows], [row.ended for row in rows]) >= pass_rate

    return imitate(model, lesson, good_enough=good_enough, seed=seed)


def started_model(puzzles: Puzzles, pass_rate: float, seed: int) -> TinyLM:
    """A new model that solves this share of the problems."""
    model = TinyLM()
    warm_start(model, puzzles, pass_rate=pass_rate, seed=seed)
    return model


def prompt_rows(prompts: Sequence[str], copies: int = 1, first_group: int = 0) -> list[Row]:
    """Rows without a response, `copies` of each prompt in a row."""
    return [Row((BOS, *encode(prompt)), first_group + i) for i, prompt in enumerate(prompts) for _ in range(copies)]
