"""RLOO with TRL on a tiny local model; at update 20 the learning rate becomes 100 times too large.

The update that the monitor finds bad is left out, and training ends there.
Run: python examples/monitor_trl_rloo.py [folder]
"""

import sys
import tempfile

import torch
from tiny_language_model import FAULTS, Task, tiny_model, toy_prompts
from transformers import TrainerCallback
from trl import RLOOConfig, RLOOTrainer

from firstbreak.monitor.adapters.trl import watch
from firstbreak.monitor.core import Monitor


class Fault(TrainerCallback):
    """What goes wrong on the way: the learning rate is raised once."""

    def on_step_begin(self, args, state, control, **kwargs):  # noqa: D102
        if state.global_step == 20:
            FAULTS["learning_rate_x100"](trainer, task)


torch.set_num_threads(1)
folder, task = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(), Task()
settings = RLOOConfig(
    folder + "/out", max_steps=60, per_device_train_batch_size=32, num_generations=8, max_completion_length=8,
    learning_rate=3e-3, lr_scheduler_type="constant", use_cpu=True, bf16=False, save_strategy="no", report_to=[],
)  # fmt: skip
trainer = RLOOTrainer(tiny_model(folder + "/model"), task.echo, settings, train_dataset=toy_prompts())
trainer.add_callback(Fault())
with Monitor(folder, algorithm="RLOO", framework="trl", act={"*": "stop_training"}) as monitor:
    callback = watch(trainer, monitor)  # the only line that your own script needs
    trainer.train()
for alarm in monitor.alarms:
    print(f"update {alarm.at:g}: {alarm.finding.name}: {alarm.finding.message} -> {alarm.action}")
print(f"ended after update {trainer.state.global_step}; left out: {callback.dropped}")
