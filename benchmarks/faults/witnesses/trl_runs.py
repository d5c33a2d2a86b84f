"""What witnesses in TRL's GRPO share: the trainer of the tiny model with a reward of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks.faults.catalogue import Task
from benchmarks.faults.guarding import Guarded
from benchmarks.faults.recording import Recording
from benchmarks.faults.trl_grpo import trainer_of
from firstbreak.monitor.adapters.trl import watch

PLACES = 8
"""Places of a response, which is as long as it may be."""

Reward = Callable[..., list[float]]


def learned(reward: Reward, task: Task, seed: int, recording: Recording) -> None:
    """Train to the end; what is logged goes to the recording, the monitor watches."""
    from transformers import TrainerCallback

    class Rows(TrainerCallback):
        """Takes in the rows."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            recording.log(logs or {}, state.global_step)

    with tempfile.TemporaryDirectory() as folder, Guarded(recording, "GRPO", "trl", "updates") as guard:
        trainer = trainer_of(folder, task.total, seed, dict(task.settings), reward)
        watch(trainer, guard.monitor)
        trainer.add_callback(Rows())
        trainer.train()
