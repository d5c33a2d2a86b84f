"""GRPO with TRL on a tiny local model; at update 30 the learning rate becomes 100 times too large.

The monitor sees the numbers of every update before it is taken, and goes back to the last healthy checkpoint.
Run: python examples/monitor_trl_grpo.py [folder]
"""

import sys
import tempfile

import torch
from tiny_language_model import grpo

from firstbreak.monitor.adapters.trl import watch
from firstbreak.monitor.alerts import Console
from firstbreak.monitor.core import Monitor


def main(folder: str) -> None:
    """Train, guarded, with a fault on the way."""
    torch.set_num_threads(1)
    trainer = grpo(folder, steps=80, fault="learning_rate_x100", fault_at=30, save_strategy="steps", save_steps=10)
    with Monitor(folder, algorithm="GRPO", framework="trl", act={"*": "roll_back"}, alerts=[Console()]) as monitor:
        callback = watch(trainer, monitor)  # the only line that your own script needs
        trainer.train()
    for alarm in monitor.alarms:
        print(f"update {alarm.at:g}: {alarm.finding.name}: {alarm.finding.message} -> {alarm.action}")
    print(f"updates left out: {callback.dropped}; checkpoints: {[step for step, _ in callback.saved.folders]}")
    rewards = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    print(f"reward: {rewards[0]:.2f} at first, {rewards[-1]:.2f} at the end")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
