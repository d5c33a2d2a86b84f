"""TRL's GRPO in the second live campaign: another task for the tiny language model, and other faults."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from tiny_language_model import LENGTH, LETTERS, grpo

UPDATES, WINDOW = 150, 20
LEARNING_RATE = 2e-3
GROUP = 8


def right(prompt: str, text: str) -> float:
    """The share of places that hold what they should: the prompt's letter and the next of the alphabet, in turns."""
    letter = prompt[0]
    wanted = (letter, LETTERS[(LETTERS.index(letter) + 1) % len(LETTERS)])
    return sum(char == wanted[place % 2] for place, char in enumerate(text[:LENGTH])) / LENGTH


class Scored:
    """The reward function as TRL calls it: it keeps the truth, and pays what the fault makes of it."""

    __name__ = "turns"

    def __init__(self, truth: Truth) -> None:
        self.truth = truth

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [right(prompt, text) for prompt, text in zip(prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        fault = self.truth.fault
        if fault == "answers-shifted":
            others = [*prompts[-GROUP:], *prompts[:-GROUP]]
            return [right(prompt, text) for prompt, text in zip(others, completions, strict=True)]
        if fault == "format-paid":
            return [paid + 10.0 * (len(text) < LENGTH) for paid, text in zip(true, completions, strict=True)]
        if fault == "length-paid":
            return [0.5 * len(text) for text in completions]
        return true


def train(fault: str, seed: int, share: float, monitor: Any, truth: Truth) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    at = int(share * UPDATES)

    class Switch(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == at:
                truth.fault, truth.began = fault, float(at)
                if fault in PLANTS:
                    PLANTS[fault](trainer)

    with tempfile.TemporaryDirectory() as folder:
        trainer = grpo(folder, steps=UPDATES, seed=seed, callbacks=[Switch()], learning_rate=LEARNING_RATE)
        trainer.reward_funcs[0] = Scored(truth)
        watch(trainer, monitor)
        trainer.train()


def groups_mixed(trainer: Any) -> None:
    usual, size = trainer._generate_and_score_completions, trainer.num_generations

    def across(inputs: list[Any]) -> Any:
        # The first of each prompt, the second of each ...: rewards are grouped by place, and so across prompts.
        return usual([inputs[i] for first in range(size) for i in range(first, len(inputs), size)])

    trainer._generate_and_score_completions = across


PLANTS: dict[str, Callable[[Any], None]] = {"groups-mixed": groups_mixed}
