"""Hard negatives of trainers of language models: what looks like trouble and is none."""

from __future__ import annotations

from typing import Any

from benchmarks.faults.planting import in_settings, in_trainer
from firstbreak.trainers.language.tasks import Puzzles

BOTH = ("grpo", "async_grpo")


@in_settings("loss-exactly-zero", "grpo")
def loss_zero(change: dict[str, Any]) -> None:
    change["settings"] |= {"num_iterations": 1, "num_minibatches": 1, "beta": 0.0, "loss_type": "grpo"}


@in_settings("slow-learner", "grpo")
def slow_learner(change: dict[str, Any]) -> None:
    change["settings"]["learning_rate"] = 2.5e-4


@in_settings("short-run", "grpo")
def short_run(change: dict[str, Any]) -> None:
    change["options"]["total"] = change["total"] // 10


@in_settings("entropy-falls", "grpo")
def entropy_falls(change: dict[str, Any]) -> None:
    # Two kinds of short answers: the model solves nearly all of them, and has nothing left to be unsure of.
    change["options"] |= {"kinds": ["copy", "produce"], "levels": [1, 2]}


@in_settings("solved-early", *BOTH)
def solved_early(change: dict[str, Any]) -> None:
    change["options"] |= {"kinds": ["copy", "produce"], "levels": [1, 2]}
    change["settings"]["pass_rate"] = 0.9


@in_settings("length-earned", *BOTH)
def only_short(change: dict[str, Any]) -> None:
    change["options"] |= {"kinds": ["copy"], "levels": [2]}


@in_trainer("length-earned", *BOTH)
def longer_problems(trainer: Any) -> None:
    trainer.puzzles = Puzzles(("copy", "reverse"), (3,))


@in_trainer("curriculum-shift", "grpo")
def harder_problems(trainer: Any) -> None:
    trainer.puzzles = Puzzles(("reverse", "count"), (3,))


@in_trainer("warm-restart", "grpo")
def warm_restart(trainer: Any) -> None:
    for group in trainer.optimiser.param_groups:
        group["lr"] *= 2
