"""PPO with TRL (up to 1.12) on a tiny local model; from update 20 on the learning rate is 100 times too large.

TRL's loop cannot be told to stop; the monitor ends it. Run: python examples/monitor_trl_ppo.py [folder]
"""

import os
import sys
import tempfile

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
import torch
from tiny_language_model import FAULTS, Task, tiny_ppo
from transformers import TrainerCallback

from firstbreak.monitor.adapters.trl import watch
from firstbreak.monitor.core import Monitor


class Fault(TrainerCallback):
    """What goes wrong on the way: the learning rate is raised once."""

    def on_step_end(self, args, state, control, **kwargs):  # noqa: D102
        if state.global_step == 20:
            FAULTS["learning_rate_x100"](trainer, Task())


torch.set_num_threads(1)
folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
trainer = tiny_ppo(folder, updates=60)
trainer.add_callback(Fault())
with Monitor(folder, algorithm="RLHF-PPO", framework="trl", act={"*": "stop_training"}) as monitor:
    callback = watch(trainer, monitor)  # the only line that your own script needs
    trainer.train()
for alarm in monitor.alarms:
    print(f"update {alarm.at:g}: {alarm.finding.name}: {alarm.finding.message} -> {alarm.action}")
print(f"ended after update {trainer.state.global_step}; left out: {callback.dropped}")
