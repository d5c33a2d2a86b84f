"""What witnesses in the reference GRPO share: a warm start, and a monitor that only watches."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import torch

from benchmarks.faults.catalogue import Task
from benchmarks.faults.guarding import Guarded
from benchmarks.faults.language import OUTSIDE
from benchmarks.faults.recording import Recording
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.trainers.language.grpo import GRPO
from firstbreak.trainers.language.grpo_config import GRPOConfig
from firstbreak.trainers.language.model import TinyLM
from firstbreak.trainers.language.tasks import Puzzles
from firstbreak.trainers.language.warm_start import started_model


def warm(seed: int, config: GRPOConfig, puzzles: Puzzles) -> TinyLM:
    """A model that solves a part of the puzzles; made once in a process for each seed."""
    return deepcopy(_warm(seed, config.pass_rate, puzzles))


@cache
def _warm(seed: int, pass_rate: float, puzzles: Puzzles) -> TinyLM:
    torch.manual_seed(seed)
    return started_model(puzzles, pass_rate, seed)


def learned(trainer: GRPO, task: Task, recording: Recording) -> None:
    """Train to the end, each row to the recording and to the monitor."""
    with Guarded(recording, "GRPO", "", "updates") as guard:
        tell = log_to(guard.monitor, trainer)

        def on_row(metrics: Mapping[str, Any], step: int) -> None:
            row = {key: value for key, value in metrics.items() if key not in OUTSIDE}
            tell(row, step)
            recording.log(row, step)

        trainer.learn(task.total, on_row)
