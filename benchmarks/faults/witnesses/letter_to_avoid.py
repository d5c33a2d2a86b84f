"""The witness of `reward-flipped` in TRL's GRPO: the letter of the prompt is to be avoided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.faults.catalogue import Task
from benchmarks.faults.recording import Recording
from benchmarks.faults.witnesses.trl_runs import PLACES, learned
from benchmarks.faults.witnesses.witness import Witness


def avoid(prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
    """A penalty for each place that holds the prompt's letter."""
    return [-(text.count(prompt[0]) / PLACES) for prompt, text in zip(prompts, completions, strict=True)]


def train(task: Task, seed: int, recording: Recording) -> None:
    """TRL's GRPO with this reward."""
    learned(avoid, task, seed, recording)


WITNESSES = (
    Witness(
        "reward-flipped", "trl_grpo", "echo", "The letter of the prompt is forbidden, and each use costs.", train,
        {"rewards/avoid/": "rewards/echo/"},
    ),
)  # fmt: skip
