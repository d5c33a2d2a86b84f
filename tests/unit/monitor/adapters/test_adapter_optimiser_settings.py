"""Settings of an optimiser that somebody sets anew are told of at once; schedules and learning rates are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

from firstbreak.monitor.adapters.parts.weights.at_rest import OF_CRITIC as WEIGHTS_OF_CRITIC
from firstbreak.monitor.adapters.parts.weights.at_rest import AtRest
from firstbreak.monitor.adapters.parts.weights.optimiser_settings import (
    OF_CRITIC,
    OF_POLICY,
    REST,
    SCHEDULE,
    OptimiserSettings,
)
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.sac import SAC, SACConfig
from tests.unit.monitor.adapters.sb3_worlds import sac

torch.set_num_threads(1)


def adam() -> torch.optim.Adam:
    return torch.optim.Adam(torch.nn.Linear(3, 2).parameters(), lr=0.1)


def swap(optimiser: Any) -> None:
    for group in optimiser.param_groups:
        group["betas"] = group["betas"][::-1]


def decay(optimiser: Any) -> None:
    optimiser.param_groups[0]["weight_decay"] = 0.1


def climb(optimiser: Any) -> None:
    optimiser.param_groups[0]["maximize"] = True


def rested(optimiser: Any) -> OptimiserSettings:
    settings = OptimiserSettings([optimiser], set())
    for _ in range(REST):
        assert settings.row() == {OF_POLICY: 0.0}
    return settings


@pytest.mark.parametrize("change", [swap, decay, climb])
def test_what_is_set_anew_is_told_of_at_the_step_and_in_every_row_after_it(change: Callable[[Any], None]) -> None:
    optimiser = adam()
    settings = rested(optimiser)
    assert not settings.step(optimiser)
    change(optimiser)
    assert settings.step(optimiser)
    assert settings.now() == {OF_POLICY: 1.0}
    assert not settings.step(optimiser)
    assert [settings.row() for _ in range(3)] == [{OF_POLICY: 1.0}] * 3


def test_a_list_that_is_written_into_is_no_longer_the_same_setting() -> None:
    optimiser = adam()
    optimiser.param_groups[0]["betas"] = list(optimiser.param_groups[0]["betas"])
    settings = rested(optimiser)
    optimiser.param_groups[0]["betas"][0] = 0.5
    assert settings.step(optimiser)
    assert settings.row() == {OF_POLICY: 1.0}


def test_what_is_set_back_counts_no_more() -> None:
    optimiser = adam()
    settings = rested(optimiser)
    swap(optimiser)
    assert settings.row() == {OF_POLICY: 1.0}
    swap(optimiser)
    assert settings.row() == {OF_POLICY: 0.0}


def test_a_schedule_of_a_beta_is_none_of_it() -> None:
    optimiser = adam()
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=0.1, total_steps=40)
    settings = OptimiserSettings([optimiser], set())
    for _ in range(30):
        optimiser.step()
        schedule.step()
        assert not settings.step(optimiser)
        assert settings.row() == {OF_POLICY: 0.0}


def test_a_schedule_that_begins_late_is_told_of_until_it_is_known_for_one() -> None:
    optimiser = adam()
    settings = rested(optimiser)
    found: list[float] = []
    for step in range(6):
        optimiser.param_groups[0]["betas"] = (0.9 - 0.01 * (step + 1), 0.999)
        found.append(settings.row()[OF_POLICY])
    assert found == [1.0] + [0.0] * 5
    assert SCHEDULE == 3


def test_learning_rates_are_none_of_it_nor_tensors_nor_numbers_that_are_none() -> None:
    optimiser = adam()
    optimiser.param_groups[0] |= {"weight_decay": float("nan"), "momentum": torch.tensor(0.0)}
    settings = OptimiserSettings([optimiser], set())
    for step in range(12):
        optimiser.param_groups[0]["lr"] = 0.1 / (step + 1)
        optimiser.param_groups[0]["momentum"] = torch.tensor(float(step))
        assert not settings.step(optimiser)
        assert settings.row() == {OF_POLICY: 0.0}


def test_the_critics_optimiser_has_a_column_of_its_own() -> None:
    critic, actor = torch.nn.Linear(3, 1), torch.nn.Linear(3, 2)
    optimisers = [torch.optim.Adam(network.parameters()) for network in (critic, actor)]
    told: list[Any] = []
    resting = AtRest(optimisers, told.append, {WEIGHTS_OF_CRITIC: critic.parameters()})
    for _ in range(REST):
        resting.settings.row()
    swap(optimisers[0])
    for optimiser in optimisers:
        optimiser.step()
    assert told == [{OF_CRITIC: 1.0, OF_POLICY: 0.0}]
    assert resting.settings.row() == {OF_CRITIC: 1.0, OF_POLICY: 0.0}


class Swaps(BaseCallback):
    """Swaps the betas of the critic, the actor and the temperature of a model at a step."""

    def _on_step(self) -> bool:
        if self.num_timesteps == 300:
            model: Any = self.model
            for optimiser in (model.actor.optimizer, model.critic.optimizer):
                swap(optimiser)
        return True


@pytest.mark.parametrize("swapped", [False, True])
def test_stable_baselines_says_it(swapped: bool) -> None:
    with Monitor(None) as monitor:
        callbacks: list[BaseCallback] = [MonitorCallback(monitor, every_steps=20)]
        sac().learn(400, callback=[*callbacks, Swaps()] if swapped else callbacks)
        names = {alarm.finding.name for alarm in monitor.alarms}
        first = min((alarm.at for alarm in monitor.alarms if alarm.finding.metric == OF_POLICY), default=0)
    assert monitor.faults == []
    assert ({"loss-settings-changed", "critic-setting-moved"} <= names) is swapped
    assert not swapped or 300 < first <= 340


@pytest.mark.parametrize("swapped", [False, True])
def test_the_reference_trainers_say_it(swapped: bool) -> None:
    config = SACConfig(hidden_sizes=(8,), batch_size=8, learning_starts=20, log_every_steps=20)
    trainer = SAC(lambda: gymnasium.make("Pendulum-v1"), seed=0, config=config)
    with Monitor(None) as monitor:
        log = log_to(monitor, trainer)

        def then(metrics: Any, step: int) -> Any:
            verdict = log(metrics, step)
            if swapped and 300 <= step < 320:
                swap(trainer.actor_optimiser)
            return verdict

        trainer.learn(400, then)
        names = {alarm.finding.name for alarm in monitor.alarms}
    assert monitor.faults == []
    assert ("loss-settings-changed" in names) is swapped
    assert "critic-setting-moved" not in names
