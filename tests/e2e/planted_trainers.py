"""Trainers of TRL with planted faults, ready to be looked at between two calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from benchmarks.grpo.recording import Kit, Plan, Rows, Switch, trainer_of
from benchmarks.grpo.tasks import pretrained, problems
from benchmarks.grpo.unseen_planting import UnseenPlanted

UPDATES = 4


def begun_models(kit: Kit, task: str, folder: Path) -> Path:
    """Return `folder`, with a model of `task` in it that knows little."""
    torch.set_num_threads(1)
    pretrained(kit.tasks[task], 0, folder, updates=12)
    return folder


def planted_trainer(kit: Kit, task: str, models: Path, folder: Path, needs: str = "") -> Any:
    """Return a trainer without a fault as yet, its optimiser made."""
    plan = Plan("x", task=task, kind="fault", seed=0, needs=needs, updates=UPDATES)
    given = problems(kit.tasks[task], 0)
    found = trainer_of(plan, given, str(models / f"{task}-0"), folder, Switch(plan, given), Rows(), kit)
    found.create_optimizer_and_scheduler(UPDATES)
    return found


def rows_of(trainer: UnseenPlanted, first: int = 0) -> list[dict[str, str]]:
    """Return eight groups of eight rows."""
    return [row for row in trainer.given.train[first : first + 8] for _ in range(8)]


def batch(trainer: UnseenPlanted, seed: int = 0, first: int = 0) -> dict[str, Any]:
    """Return what is trained on, drawn anew."""
    torch.manual_seed(seed)
    trainer.model.train()
    return trainer._generate_and_score_completions(rows_of(trainer, first))


def moved(trainer: UnseenPlanted) -> float:
    """Return the greatest change of a weight in one update with a gradient of 1 everywhere."""
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    for weight in trainer.model.parameters():
        weight.grad = torch.ones_like(weight)
    trainer.optimizer.step()
    return max(
        float((a - b).abs().max()) for a, b in zip(before, trainer.model.parameters(), strict=True)
    )  # fmt: skip


def gap(trainer: UnseenPlanted, seed: int = 0) -> float:
    """Return the mean difference of log-probabilities between sampler and trainer, of a batch drawn anew."""
    trainer._last_loaded_step = -1
    batch(trainer, seed)
    return trainer._metrics["train"]["sampling/sampling_logp_difference/mean"][-1]


def nudge(model: Any) -> None:
    """Move every weight, by normal noise."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
