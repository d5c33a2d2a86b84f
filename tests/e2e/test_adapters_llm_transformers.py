"""The callback for any trainer of transformers, in real trainings of one weight; ranks that agree."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters import transformers as hf
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action
from tests.e2e.scripted_monitor import Scripted, history

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]


class Line(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.slope = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": ((self.slope * x - labels) ** 2).mean()}


def line(folder: Path, rows: int = 240, **settings: Any) -> Any:
    from transformers import Trainer, TrainingArguments

    torch.manual_seed(0)
    data = [{"x": x, "labels": 3 * x if i < 160 else x * math.nan} for i, x in enumerate(torch.randn(rows))]
    arguments = TrainingArguments(
        str(folder), per_device_train_batch_size=8, num_train_epochs=1, learning_rate=0.1, use_cpu=True, report_to=[],
        train_sampling_strategy="sequential", **{"logging_steps": 2, "save_strategy": "no", **settings},
    )  # fmt: skip
    return Trainer(Line(), arguments, train_dataset=data, eval_dataset=data[:8])


def test_a_nan_that_transformers_hides_never_reaches_the_weights(tmp_path: Path) -> None:
    trainer = line(tmp_path)
    with Monitor(act={"numerics": "stop_training"}) as monitor:
        found = hf.watch(trainer, monitor)
        trainer.train()
    assert math.isfinite(float(trainer.model.slope))
    assert (trainer.state.global_step, found.dropped) == (21, [21])
    assert all(math.isfinite(row["loss"]) for row in history(trainer)), (
        "transformers showed it, the test proves nothing"
    )
    unwatched = line(tmp_path)
    unwatched.train()
    assert math.isnan(float(unwatched.model.slope))


def test_without_watch_the_log_is_taken_as_it_comes_with_evaluations(tmp_path: Path) -> None:
    trainer, monitor = line(tmp_path, rows=40, eval_strategy="steps", eval_steps=4), Scripted({4: Action.STOP_UPDATE})
    trainer.add_callback(hf.MonitorCallback(monitor))
    trainer.train()
    assert [step for step, row in monitor.seen if "loss" in row] == [2, 4]
    assert [step for step, row in monitor.seen if "eval_loss" in row] == [4, 5]
    assert any("use watch(trainer, monitor)" in fault for fault in monitor.faults)


def test_a_resumed_run_says_so(tmp_path: Path) -> None:
    first = line(tmp_path, rows=40, save_strategy="steps", save_steps=3)
    first.train()
    monitor = Monitor()
    second = line(tmp_path, rows=40)
    hf.watch(second, monitor)
    second.train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    assert [(event.name, event.at) for event in monitor.run_log().events][:1] == [("resume", 3.0)]
    assert monitor.rows == 2


RANK = """
import math, sys
from torch import distributed
from firstbreak.monitor.adapters.hf_control import agreed
from firstbreak.monitor.verdict import Action

rank, folder = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
mine = [(Action.CONTINUE, math.inf), (Action.ROLL_BACK, 7.0)][rank]
print(agreed(*mine, "cpu") == (Action.ROLL_BACK, 7.0), agreed(Action.CONTINUE, math.inf, "cpu")[0].value)
distributed.destroy_process_group()
"""


def test_two_ranks_do_what_the_sterner_says(tmp_path: Path) -> None:
    ranks = [
        subprocess.Popen([sys.executable, "-c", RANK, str(i), str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for i in range(2)
    ]
    assert [rank.communicate()[0].strip() for rank in ranks] == ["True continue", "True continue"]
