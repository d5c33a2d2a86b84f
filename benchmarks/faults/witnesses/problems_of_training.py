"""The witness of `eval-on-training-set` in GRPO: how well the problems of training are done, asked on purpose."""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.faults.catalogue import Task
from benchmarks.faults.recording import Recording
from benchmarks.faults.witnesses.language_runs import learned, warm
from benchmarks.faults.witnesses.witness import Witness
from firstbreak.trainers.language.evaluation import evaluate
from firstbreak.trainers.language.grpo import GRPO
from firstbreak.trainers.language.grpo_config import GRPOConfig
from firstbreak.trainers.language.tasks import Problem, Puzzles, is_held_out, make


@dataclass(frozen=True)
class OfTraining(Puzzles):
    """Puzzles that training may draw, whichever are asked for."""

    def draw(self, count: int, chance: random.Random, *, held_out: bool = False) -> list[Problem]:
        found: list[Problem] = []
        while len(found) < count:
            puzzle = make(chance.choice(self.kinds), chance.choice(self.levels), chance)
            if not is_held_out(puzzle.prompt):
                found.append(puzzle)
        return found


def train(task: Task, seed: int, recording: Recording) -> None:
    """The reference GRPO; its evaluation asks how much of what is practised has been learned, and no more."""
    config = GRPOConfig(**task.settings)
    trainer = GRPO(seed=seed, config=config, model=warm(seed, config, Puzzles()))
    trainer.evaluate = lambda: evaluate(trainer.model, OfTraining(), config.max_new_tokens)
    learned(trainer, task, recording)


WITNESSES = (
    Witness(
        "eval-on-training-set", "grpo", "copy-reverse-count",
        "The evaluation is meant to ask how much of the practised problems has been learned.", train,
    ),
)  # fmt: skip
