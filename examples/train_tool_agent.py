"""An agent that learns to use tools, guarded; its episodes go to a file that `firstbreak audit` reads.

Run: python examples/train_tool_agent.py [folder] [updates]
"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from firstbreak.monitor import Monitor
from firstbreak.trainers.language.tool_agent import ToolAgent, ToolAgentConfig
from firstbreak.trainers.language.tool_samples import record_jsonl

torch.set_num_threads(1)  # a small network: more threads only wait for each other
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/tool_agent")
updates = int(sys.argv[2]) if len(sys.argv) > 2 else 40
trainer = ToolAgent(seed=0, config=ToolAgentConfig(), record=record_jsonl(folder / "episodes.jsonl"))

with Monitor(folder, algorithm="GRPO", config=asdict(trainer.config), clock="updates") as monitor:

    def log(row: dict[str, float], update: int) -> Any:
        """Guard the run."""
        if update % 10 == 0:
            print(f"update {update}: success {row['reward/true_objective']:.2f}, calls {row['tool/calls_mean']:.1f}")
        return monitor.log(row, step=update)

    trainer.learn(updates, log)

for alarm in monitor.alarms:
    print(f"update {alarm.at:.0f} {alarm.finding.severity} {alarm.finding.name}: {alarm.finding.message}")
print(f"now: firstbreak audit {folder / 'episodes.jsonl'}")
