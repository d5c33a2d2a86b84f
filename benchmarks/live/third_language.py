"""TRL's GRPO in the third live campaign: another task for the tiny language model, and other faults."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import unseen_language  # noqa: F401  (puts the tiny language model on the path)
from tiny_language_model import LENGTH, LETTERS, grpo
from transformers import TrainerCallback
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

UPDATES, WINDOW = 150, 20
LEARNING_RATE = 2e-3
TIMES_OUT = 0.5
"""Share of right places from which on a check takes too long."""


def right(prompt: str, text: str) -> float:
    """The share of places that hold the letter that follows the prompt's in the alphabet."""
    return text.count(LETTERS[(LETTERS.index(prompt[0]) + 1) % len(LETTERS)]) / LENGTH


class Scored:
    """The reward function as TRL calls it: it keeps the truth, and pays what the fault makes of it."""

    __name__ = "following"

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.asked: list[str] = []
        """What was to be asked, where the model was shown something else."""

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [right(prompt, text) for prompt, text in zip(self.asked or prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        if self.truth.fault == "verifier-times-out":
            return [0.0 if paid > TIMES_OUT else paid for paid in true]
        return true


def train(fault: str, seed: int, share: float, monitor: Any, truth: Truth) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    at, scored = int(share * UPDATES), Scored(truth)

    class Switch(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == at:
                truth.fault, truth.began = fault, float(at)
                if fault in PLANTS:
                    PLANTS[fault](trainer, scored)

    with tempfile.TemporaryDirectory() as folder:
        trainer = grpo(folder, steps=UPDATES, seed=seed, callbacks=[Switch()], learning_rate=LEARNING_RATE)
        trainer.reward_funcs[0] = scored
        watch(trainer, monitor)
        trainer.train()


def prompt_lost(trainer: Any, scored: Scored) -> None:
    """The template leaves the question out: the model is shown the same prompt always."""
    usual = trainer._generate_and_score_completions

    def same(inputs: list[Any]) -> Any:
        scored.asked = [one["prompt"] for one in inputs]
        return usual([{**one, "prompt": ">>"} for one in inputs])

    trainer._generate_and_score_completions = same


def batch_again(trainer: Any, scored: Scored) -> None:
    """The queue hands out the batch that it handed out first; what is generated anew is scored and thrown away."""
    del scored
    usual = trainer._generate_and_score_completions
    kept: list[Any] = []

    def again(inputs: list[Any]) -> Any:
        kept.append(usual(inputs))
        del kept[1:]
        return deepcopy(kept[0])

    trainer._generate_and_score_completions = again


PLANTS: dict[str, Callable[[Any, Scored], None]] = {"prompt-lost": prompt_lost, "batch-again": batch_again}
