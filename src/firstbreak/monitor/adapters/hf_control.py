"""What a verdict does to a trainer of Hugging Face: drop an update, end the run, go back to a healthy checkpoint."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ..checkpoints.ring import without_headway
from ..verdict import Action, Verdict


def drop_gradients(optimizer: Any) -> None:
    """Take every gradient away, so that the coming `optimizer.step()` passes over every weight.

    A weight whose gradient is None is left out by PyTorch's optimisers: neither it nor its moments change and it does
    not decay. (A gradient of zero would still move it by its momentum.) The learning-rate schedule goes on.
    """
    for group in optimizer.param_groups:
        for weight in group["params"]:
            weight.grad = None


def earliest_onset(verdict: Verdict) -> float:
    """Return where what the verdict's alarms report may have begun; infinity without alarms."""
    return min((alarm.finding.onset.lo for alarm in verdict.alarms), default=math.inf)


def agreed(action: Action, onset: float, device: Any) -> tuple[Action, float]:
    """Return the sternest action of all ranks and their earliest onset; every rank must call it.

    A rank that dropped an update on its own would have other weights than the rest from then on.
    """
    import torch
    import torch.distributed

    distributed: Any = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1):
        return action, onset
    both: Any = torch.tensor([float(action.rank), -onset], dtype=torch.float64, device=device)
    distributed.all_reduce(both, op=distributed.ReduceOp.MAX)
    rank, earliest = both.tolist()
    return list(Action)[int(rank)], -earliest


class Saved:
    """The checkpoints that the trainer itself wrote, and the roll-backs to them: `limit` in a row without headway."""

    def __init__(self, limit: int = 3) -> None:
        self.folders: list[tuple[float, Path]] = []
        """Updates done, folder; oldest first."""
        self._limit = limit
        self._went: list[float] = []
        """The updates that each roll-back went to, oldest first."""

    def note(self, step: float, folder: Path) -> None:
        """Take a folder that was just written."""
        self.folders.append((step, folder))

    def go_back(self, trainer: Any, onset: float) -> float | None:
        """Load the newest checkpoint from before `onset`; None where there is none or it has not helped before.

        Returns:
            The updates it had done.
        """
        older = [(step, folder) for step, folder in self.folders if step < onset and folder.is_dir()]
        if trainer is None or not older:
            return None
        step, folder = max(older)
        if without_headway(self._went, step) >= self._limit:
            return None
        self._went.append(step)
        load(trainer, folder)
        self.folders = [(at, path) for at, path in self.folders if at <= step]
        return step


def load(trainer: Any, folder: Path) -> None:
    """Load weights, optimiser and schedule of a checkpoint into a running trainer.

    The counter of updates, the data order and the random generators go on, so that the same batch is not met again.
    """
    trainer._load_from_checkpoint(str(folder))
    trainer._load_optimizer_and_scheduler(str(folder))


def forget_batch(trainer: Any) -> None:
    """Throw away responses that an abandoned policy generated and that TRL keeps for further updates."""
    if getattr(trainer, "_buffered_inputs", None) is not None:
        trainer._buffered_inputs = None
