"""GRPO on a model of 60,000 weights, guarded; at update 40 the verifier begins to pay for length.

Run: python examples/train_grpo.py [folder] [updates]
"""

import sys
from dataclasses import asdict
from typing import Any

import torch

from firstbreak.monitor import Monitor
from firstbreak.trainers.language.grpo import GRPO, GRPOConfig

torch.set_num_threads(1)  # a small network: more threads only wait for each other
folder = sys.argv[1] if len(sys.argv) > 1 else "runs/grpo"
updates = int(sys.argv[2]) if len(sys.argv) > 2 else 80
trainer = GRPO(seed=0, config=GRPOConfig())
act = {"numerics": "stop_training"}

with Monitor(folder, algorithm="GRPO", config=asdict(trainer.config), clock="updates", act=act) as monitor:

    def log(row: dict[str, float], update: int) -> Any:
        """Guard the run, and plant the fault; no other line of a script of yours would do that."""
        if update == 40:
            trainer.rewards["correct"] = lambda problem, text, ended: len(text) / 10
        if update % 10 == 0:
            print(f"update {update}: reward {row['reward/train_mean']:.2f}, solved {row['reward/true_objective']:.2f}")
        return monitor.log(row, step=update)

    trainer.learn(updates, log)

for alarm in monitor.alarms:
    print(f"update {alarm.at:.0f} {alarm.finding.severity} {alarm.finding.name}: {alarm.finding.message}")
