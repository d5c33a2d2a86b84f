"""Asynchronous GRPO on a model of 60,000 weights, guarded; from update 30 on the weights no longer reach the sampler.

Run: python examples/train_async_grpo.py [folder] [updates]
"""

import sys
from dataclasses import asdict
from typing import Any

import torch

from firstbreak.monitor import Monitor
from firstbreak.trainers.language.async_grpo import AsyncGRPO, AsyncGRPOConfig

torch.set_num_threads(1)  # a small network: more threads only wait for each other
folder = sys.argv[1] if len(sys.argv) > 1 else "runs/async_grpo"
updates = int(sys.argv[2]) if len(sys.argv) > 2 else 60
trainer = AsyncGRPO(seed=0, config=AsyncGRPOConfig(max_staleness=2))


def only_stamped() -> None:
    """A sync that says it is done and copies nothing."""
    trainer.sampler_version = trainer.updates


with Monitor(folder, algorithm="AsyncGRPO", config=asdict(trainer.config), clock="updates") as monitor:

    def log(row: dict[str, float], update: int) -> Any:
        """Guard the run, and plant the fault; no other line of a script of yours would do that."""
        if update == 30:
            trainer.sync_weights = only_stamped
        return monitor.log(row, step=update)

    trainer.learn(updates, log)

for alarm in monitor.alarms:
    print(f"update {alarm.at:.0f} {alarm.finding.severity} {alarm.finding.name}: {alarm.finding.message}")
