"""The witness of `question-dropped` in GRPO: a game of guessing, whose prompt says only what kind of thing it is."""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.faults.catalogue import Task
from benchmarks.faults.recording import Recording
from benchmarks.faults.witnesses.language_runs import learned, warm
from benchmarks.faults.witnesses.witness import Witness
from firstbreak.trainers.language.grpo import GRPO
from firstbreak.trainers.language.grpo_config import GRPOConfig
from firstbreak.trainers.language.tasks import Problem, Puzzles, is_held_out, make


@dataclass(frozen=True)
class Guessing(Puzzles):
    """Somebody thinks of a word; one is told the game and the length, and guesses.

    Nothing in a prompt gives the answer away, and nothing is meant to: the best that can be learned is the form of an
    answer and the likeliest ones.
    """

    def draw(self, count: int, chance: random.Random, *, held_out: bool = False) -> list[Problem]:
        games: list[Problem] = []
        while len(games) < count:
            thought = make(chance.choice(self.kinds), chance.choice(self.levels), chance)
            if is_held_out(thought.prompt) == held_out:
                told = thought.prompt[0] + "a" * (len(thought.prompt) - 2) + ">"
                games.append(Problem(told, thought.answer, thought.kind, thought.level))
        return games


def train(task: Task, seed: int, recording: Recording) -> None:
    """The reference GRPO on it, from a model that knows the puzzles with their questions."""
    config = GRPOConfig(**task.settings)
    model = warm(seed, config, Puzzles())
    learned(GRPO(seed=seed, config=config, puzzles=Guessing(), model=model), task, recording)


WITNESSES = (
    Witness(
        "question-dropped", "grpo", "copy-reverse-count",
        "A game of guessing: the prompt is not meant to say what the answer is.", train,
    ),
)  # fmt: skip
