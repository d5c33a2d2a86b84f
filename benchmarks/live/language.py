"""GRPO of TRL on a tiny language model, guarded by the monitor's callback, with faults planted while it learns."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from tiny_language_model import LENGTH, grpo

UPDATES, AFTER = 150, 0.6
LEARNING_RATE = 1e-3


class Scored:
    """The reward function as TRL calls it: it keeps the truth, and pays what the fault makes of it."""

    __name__ = "echo"

    def __init__(self, truth: Truth) -> None:
        self.truth = truth

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [text.count(prompt[0]) / LENGTH for prompt, text in zip(prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        if self.truth.fault == "reward-flipped":
            return [-value for value in true]
        return [1.0] * len(true) if self.truth.fault == "reward-constant" else true


def train(fault: str, seed: int, monitor: Any, truth: Truth) -> None:
    """Train once; `truth` hears what really happened."""
    at = int(AFTER * UPDATES)

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


def faster(trainer: Any) -> None:
    schedule = getattr(trainer.lr_scheduler, "scheduler", trainer.lr_scheduler)
    schedule.base_lrs = [100 * rate for rate in schedule.base_lrs]
    for group in trainer.optimizer.param_groups:
        group["lr"] *= 100


@torch.no_grad()
def noise(trainer: Any) -> None:
    for weight in trainer.model.parameters():
        if weight.dim() > 1:
            weight.add_(2 * float(weight.std()) * torch.randn_like(weight))


@torch.no_grad()
def spoil(trainer: Any) -> None:
    weight = next(iter(trainer.model.parameters()))
    weight.view(-1)[0] = math.nan


PLANTS: dict[str, Callable[[Any], None]] = {
    "learning-rate-x100": faster,
    "weights-noise": noise,
    "weights-nan": spoil,
    "temperature-x5": lambda trainer: setattr(trainer.generation_config, "temperature", 5.0),
    "completions-cut": lambda trainer: setattr(trainer.generation_config, "max_new_tokens", 1),
}
