"""Any trainer of transformers; here it fits a line, and from update 20 on the data holds a NaN.

transformers hides such a loss from its log (`logging_nan_inf_filter`); the monitor sees it before the weights do.
Run: python examples/monitor_transformers.py
"""

import tempfile

import torch
from transformers import Trainer, TrainingArguments

from firstbreak.monitor.adapters.transformers import watch
from firstbreak.monitor.core import Monitor


class Line(torch.nn.Module):
    """One weight."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the loss."""
        return {"loss": ((self.slope * x - labels) ** 2).mean()}


if __name__ == "__main__":
    torch.manual_seed(0)
    rows = [{"x": x, "labels": 3 * x if i < 160 else x * float("nan")} for i, x in enumerate(torch.randn(320))]
    arguments = TrainingArguments(
        tempfile.mkdtemp(), max_steps=40, per_device_train_batch_size=8, learning_rate=0.1, use_cpu=True,
        save_strategy="no", report_to=[], logging_steps=40, train_sampling_strategy="sequential",
    )  # fmt: skip
    trainer = Trainer(Line(), arguments, train_dataset=rows)
    monitor = Monitor(act={"numerics": "stop_training"})
    callback = watch(trainer, monitor)
    trainer.train()
    print(f"ended after update {trainer.state.global_step}, slope {float(trainer.model.slope):.2f}")
    print([alarm.finding.message for alarm in monitor.alarms], "left out:", callback.dropped)
