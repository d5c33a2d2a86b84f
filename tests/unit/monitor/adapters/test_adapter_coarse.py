"""Weights that end in zeros, and those that do not."""

from __future__ import annotations

import gymnasium
import pytest
import torch

from firstbreak.monitor.adapters.parts.coarse import COARSE, coarse
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.trainers.ppo import PPO, PPOConfig
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)


def of(*values: torch.Tensor) -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(value) for value in values]


def test_numbers_of_all_bits_are_not_coarse_and_those_of_bfloat16_are() -> None:
    drawn = torch.randn(500, generator=torch.Generator().manual_seed(0))
    assert coarse(of(drawn))[COARSE] < 0.06
    assert coarse(of(drawn.bfloat16().float())) == {COARSE: 1.0}
    assert coarse(of(torch.zeros(9), drawn[:250].bfloat16().float(), drawn[250:]))[COARSE] == pytest.approx(
        0.5, abs=0.05
    )


def test_of_other_formats_and_of_what_is_not_trained_nothing_is_said() -> None:
    assert coarse(of(torch.ones(9).bfloat16(), torch.zeros(9))) == {}
    assert coarse([torch.ones(9), torch.nn.Parameter(torch.ones(9, device="meta"))]) == {}


@pytest.mark.parametrize(("make", "every"), [(worlds.ppo, 1), (worlds.dqn, 10), (worlds.sac, 10)])
def test_steps_that_are_rounded_show_in_the_next_row(make, every) -> None:
    def rounded(optimiser, *_) -> None:
        for group in optimiser.param_groups:
            for weight in group["params"]:
                weight.data.copy_(weight.data.bfloat16().float())

    class Rounding(MonitorCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps == 60:
                for part in (
                    self.model.policy,
                    getattr(self.model, "actor", None),
                    getattr(self.model, "critic", None),
                ):
                    if getattr(part, "optimizer", None) is not None:
                        part.optimizer.register_step_post_hook(rounded)
            return super()._on_step()

    monitor = Answering()
    make().learn(120, callback=Rounding(monitor, every_steps=every))
    seen = [(step, row[COARSE]) for step, row in monitor.given if COARSE in row]
    assert max(share for step, share in seen if step < 60) < 0.08
    assert min(share for step, share in seen if step > 75) > 0.25


def test_reference_trainers_show_it_too() -> None:
    trainer = PPO(lambda: gymnasium.make("CartPole-v1"), config=PPOConfig(num_envs=2, num_steps=8, hidden_sizes=(8,)))
    monitor = Answering()
    log = log_to(monitor, trainer)
    log({"reward/step_mean": 0.0}, 1)
    for weight in trainer.actor.parameters():
        weight.data.copy_(weight.data.bfloat16().float())
    log({"reward/step_mean": 0.0}, 2)
    (_, before), (_, after) = monitor.given
    assert before[COARSE] < 0.1
    assert after[COARSE] > 0.4
