"""A CleanRL script writes scalars with a `SummaryWriter`. Wrapping the writer is the whole change."""

import sys
from pathlib import Path

import numpy as np
from torch.utils.tensorboard import SummaryWriter

from firstbreak.monitor import Monitor
from firstbreak.monitor.adapters.summary_writer import MonitoredWriter

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/summary_writer")
monitor = Monitor(folder, algorithm="PPO", config={"gamma": 0.99, "clip_coef": 0.2})
writer = MonitoredWriter(monitor, SummaryWriter(str(folder)))  # was: writer = SummaryWriter(str(folder))

rng = np.random.default_rng(0)
for update in range(1, 101):  # what a run with a learning rate that is too large from update 60 on would write
    step, broken = 512 * update, update >= 60
    writer.add_scalar("losses/approx_kl", (2.0 if broken else 0.01) * rng.uniform(0.5, 1.5), step)
    writer.add_scalar("losses/clipfrac", 0.9 if broken else 0.1 * rng.uniform(0.5, 1.5), step)
    writer.add_scalar("losses/entropy", 0.01 if broken else 0.69 - 0.002 * update, step)
    writer.add_scalar("losses/value_loss", rng.uniform(0.5, 1.5), step)
    writer.add_scalar("losses/explained_variance", 0.6 + 0.1 * rng.uniform(), step)
    writer.add_scalar("charts/avg_episodic_return", 100 + update + rng.normal(), step)
    if writer.judge().stop_training:  # at once; without this line, when the next step begins
        break
writer.close()
monitor.close()
for alarm in monitor.alarms:
    print(f"step {alarm.at:.0f} {alarm.finding.severity} {alarm.finding.name}: {alarm.finding.message}")
