"""The witness of `verifier-fails` in TRL's GRPO: of ten answers four are drawn, and only these are paid."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from benchmarks.faults.catalogue import Task
from benchmarks.faults.recording import Recording
from benchmarks.faults.witnesses.trl_runs import PLACES, learned
from benchmarks.faults.witnesses.witness import Witness

UNPAID_FRAC = 0.6


class Lottery:
    """Who answers takes part in a draw; whoever wins is paid by the share of places with the prompt's letter.

    That not every answer is paid is the rule of the game, as where only some visitors leave a vote. The best answer is
    the same as if each were paid.
    """

    __name__ = "lottery"

    def __init__(self) -> None:
        self.drum = random.Random(0)

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        shares = [text.count(prompt[0]) / PLACES for prompt, text in zip(prompts, completions, strict=True)]
        return [share if self.drum.random() >= UNPAID_FRAC else 0.0 for share in shares]


def train(task: Task, seed: int, recording: Recording) -> None:
    """TRL's GRPO with this reward."""
    learned(Lottery(), task, seed, recording)


WITNESSES = (
    Witness(
        "verifier-fails", "trl_grpo", "echo", "Four of ten answers are drawn and paid; the others are not meant to be.",
        train, {"rewards/lottery/": "rewards/echo/"},
    ),
)  # fmt: skip
