"""RLHF-PPO on a model of 60,000 weights, guarded: preferences, a reward model, PPO with a KL to the reference.

Run: python examples/train_rlhf_ppo.py [folder] [updates]
"""

import sys
from dataclasses import asdict
from typing import Any

import torch

from firstbreak.monitor import Monitor
from firstbreak.trainers.language.reward_model import pairwise_accuracy, preferences
from firstbreak.trainers.language.rlhf_ppo import RLHFPPO, RLHFPPOConfig

torch.set_num_threads(1)  # a small network: more threads only wait for each other
folder = sys.argv[1] if len(sys.argv) > 1 else "runs/rlhf_ppo"
updates = int(sys.argv[2]) if len(sys.argv) > 2 else 40
trainer = RLHFPPO(seed=0, config=RLHFPPOConfig())
pairs = preferences(trainer.reference, trainer.puzzles, trainer.sampling(), count=200, seed=1)
print(f"the reward model agrees with {pairwise_accuracy(trainer.reward_model, pairs):.0%} of fresh preferences")

with Monitor(folder, algorithm="RLHF-PPO", config=asdict(trainer.config), clock="updates") as monitor:

    def log(row: dict[str, float], update: int) -> Any:
        """Guard the run; the proxy is what the reward model says, the truth what the task says."""
        if update % 10 == 0:
            print(f"update {update}: proxy {row['reward/train_mean']:.2f}, truth {row['reward/true_objective']:.2f}")
        return monitor.log(row, step=update)

    trainer.learn(updates, log)

for alarm in monitor.alarms:
    print(f"update {alarm.at:.0f} {alarm.finding.severity} {alarm.finding.name}: {alarm.finding.message}")
