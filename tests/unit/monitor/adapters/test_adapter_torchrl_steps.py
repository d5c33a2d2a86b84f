"""What is written into the weights of a TorchRL trainer after each step of its optimiser."""

from __future__ import annotations

import math
import warnings

import pytest
import torch

from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters import torchrl_worlds as worlds

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from firstbreak.monitor.adapters.torchrl import MonitorHook

torch.set_num_threads(1)


class Spoilt(MonitorHook):
    """Behind it, something cuts the weights off after each step from some frame on."""

    start, began = math.inf, math.inf

    def register(self, trainer, name="monitor"):
        super().register(trainer, name)

        @torch.no_grad()
        def after(optimiser, *_):
            if trainer.collected_frames >= self.start:
                self.began = min(self.began, trainer.collected_frames)
                for weight in optimiser.param_groups[0]["params"]:
                    weight.clamp_(-0.1, 0.1)

        trainer.optimizer.register_step_post_hook(after)


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize("start", [480, math.inf])
def test_torchrl_tells_of_weights_that_are_cut_off(make, start):
    with Monitor(None) as monitor:
        hook = Spoilt(monitor)
        hook.start = start
        make(frames=640, hook=hook)
        found = [alarm.at for alarm in monitor.alarms if alarm.finding.name == "steps-lead-elsewhere"]
    assert monitor.faults == []
    assert bool(found) is (start < math.inf)
    assert all(when >= hook.began for when in found)
