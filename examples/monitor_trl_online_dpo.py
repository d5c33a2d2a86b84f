"""Online DPO with TRL on a tiny local model; at update 30 the learning rate becomes 300 times too large.

The update that the monitor finds bad is left out, and training ends there.
Run: python examples/monitor_trl_online_dpo.py [folder]
"""

import sys
import tempfile

import torch
from tiny_language_model import Task, tiny_model, toy_prompts
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl.experimental.online_dpo import OnlineDPOConfig, OnlineDPOTrainer

from firstbreak.monitor.adapters.trl import watch
from firstbreak.monitor.core import Monitor


class Fault(TrainerCallback):
    """What goes wrong on the way: the learning rate is raised for good."""

    def on_step_begin(self, args, state, control, **kwargs):  # noqa: D102
        for group in trainer.optimizer.param_groups if state.global_step >= 30 else ():
            group["lr"] = 0.3


torch.set_num_threads(1)
model = tiny_model((folder := sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) + "/model")
settings = OnlineDPOConfig(
    folder + "/out", max_steps=80, per_device_train_batch_size=8, max_new_tokens=8, learning_rate=1e-3,
    lr_scheduler_type="constant", use_cpu=True, bf16=False, save_strategy="no", report_to=[],
)  # fmt: skip
parts = {"processing_class": AutoTokenizer.from_pretrained(model), "train_dataset": toy_prompts()}
start = AutoModelForCausalLM.from_pretrained(model)
trainer = OnlineDPOTrainer(start, reward_funcs=Task().echo, args=settings, **parts)
trainer.add_callback(Fault())
with Monitor(folder, algorithm="OnlineDPO", framework="trl", act={"*": "stop_training"}) as monitor:
    watch(trainer, monitor)  # the only line that your own script needs
    trainer.train()
print(f"ended after update {trainer.state.global_step}:", *(alarm.finding.message for alarm in monitor.alarms))
