"""The settings in force at each row: what a schedule or a mistake made of those at the start."""

from __future__ import annotations

import warnings
from dataclasses import replace

import gymnasium
import pytest
import torch

from firstbreak.monitor.adapters.parts.in_force import DISCOUNT, OUTWEIGHS, TRACE_DECAY, decay, rate_of, rates
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters import torchrl_worlds
from tests.unit.monitor.adapters.answering import Answering

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from firstbreak.monitor.adapters.torchrl import MonitorHook

torch.set_num_threads(1)
CRITIC_RATE = "optim/critic_lr"


def optimiser(*rates_: float) -> torch.optim.Adam:
    return torch.optim.Adam([{"params": [torch.zeros(2, requires_grad=True)], "lr": rate} for rate in rates_])


def test_each_optimiser_has_its_metric() -> None:
    named = {"actor": optimiser(1e-3), "critic": optimiser(2e-3), "alpha": optimiser(3e-3), "world_model": optimiser(1)}
    assert rates(named) == {"optim/lr": 1e-3, CRITIC_RATE: 2e-3, "optim/alpha_lr": 3e-3}
    assert rates({"whatever": optimiser(0.5)}) == {"optim/lr": 0.5}
    assert rates({}) == {}


def test_the_group_of_some_weights() -> None:
    two = optimiser(1e-3, 5e-3)
    first, second = (group["params"] for group in two.param_groups)
    assert rate_of([two], second, apart_from=first) == 5e-3
    assert rate_of([two], first) == 1e-3
    shared = torch.optim.Adam([*first, *second], lr=1e-2)
    assert rate_of([shared], second, apart_from=first) is None
    assert rate_of([two], [torch.zeros(2)]) is None


class Changing(MonitorCallback):
    """Something outside the monitor's sight changes a setting at step 60."""

    def _on_step(self) -> bool:
        if self.num_timesteps == 60:
            self.change(self.model)
        return super()._on_step()


@pytest.mark.parametrize(("make", "every"), [(worlds.ppo, 1), (worlds.dqn, 10), (worlds.sac, 10)])
def test_a_discount_that_is_changed_shows_at_the_next_row(make, every) -> None:
    class Worse(Changing):
        @staticmethod
        def change(model) -> None:
            model.gamma = 1.2
            if hasattr(model, "rollout_buffer"):
                model.rollout_buffer.gamma = 1.2

    monitor = Answering()
    make().learn(100, callback=Worse(monitor, every_steps=every))
    seen = [(step, row[DISCOUNT]) for step, row in monitor.given if DISCOUNT in row]
    assert {value for step, value in seen if step < 60} == {0.99}
    assert {value for step, value in seen if step > 60} == {1.2}


def test_the_rate_of_the_critic_alone_is_named_at_the_critic() -> None:
    class Faster(Changing):
        @staticmethod
        def change(model) -> None:
            usual = model._update_learning_rate

            def update(optimisers) -> None:
                usual(optimisers)
                model.critic.optimizer.param_groups[0]["lr"] *= 1000

            model._update_learning_rate = update

    with Monitor(None, time_share=0.0) as monitor:
        worlds.sac(learning_starts=10).learn(80, callback=Faster(monitor, every_steps=4))
    assert monitor.faults == []
    first = monitor.alarms[0]
    assert first.finding.name == "critic-lr-schedule-fault"
    assert first.at <= 68
    assert first.finding.evidence["lr_after"] == pytest.approx(1000 * first.finding.evidence["lr_before"])


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda env: PPO(env, config=PPOConfig(num_envs=2, num_steps=8, hidden_sizes=(8,))),
            {DISCOUNT, TRACE_DECAY, "optim/lr"},
        ),
        (
            lambda env: MMRKHS(env, config=MMRKHSConfig(num_envs=2, rollout_steps=8, hidden_sizes=(8,))),
            {DISCOUNT, TRACE_DECAY, "optim/lr", CRITIC_RATE},
        ),
        (
            lambda env: SAC(env, config=SACConfig(hidden_sizes=(8,), batch_size=8, learning_starts=10)),
            {DISCOUNT, "optim/lr", CRITIC_RATE},
        ),
    ],
)
def test_reference_trainers_log_what_is_in_force(make, expected) -> None:
    trainer = make(lambda: gymnasium.make("Pendulum-v1"))
    monitor = Answering()
    log = log_to(monitor, trainer)
    log({"reward/step_mean": 0.0}, 1)
    for part in vars(trainer).values():
        for group in part.param_groups if isinstance(part, torch.optim.Optimizer) else ():
            group["lr"] = 100 * float(group["lr"])
            group["weight_decay"] = 100.0
    trainer.config = replace(trainer.config, gamma=0.5)
    log({"reward/step_mean": 0.0, "optim/grad_norm": 1e-3, "time/elapsed_s": 1.0}, 2)
    (_, before), (_, after) = monitor.given
    assert expected <= before.keys()
    assert (CRITIC_RATE in before) == (CRITIC_RATE in expected)
    assert (before[DISCOUNT], after[DISCOUNT]) == (0.99, 0.5)
    assert before[OUTWEIGHS] == 0.0
    assert after[OUTWEIGHS] > 1
    assert after["time/process_s"] > 0
    for name in expected - {DISCOUNT, TRACE_DECAY}:
        assert after[name] == pytest.approx(100 * before[name])


@pytest.mark.parametrize(("make", "every"), [(worlds.ppo, 1), (worlds.a2c, 1)])
def test_a_trace_that_is_changed_shows_at_the_next_row(make, every) -> None:
    class Longer(Changing):
        @staticmethod
        def change(model) -> None:
            model.gae_lambda = model.rollout_buffer.gae_lambda = 1.3

    monitor = Answering()
    model = make()
    model.learn(100, callback=Longer(monitor, every_steps=every))
    seen = [(step, row[TRACE_DECAY]) for step, row in monitor.given if TRACE_DECAY in row]
    assert max(value for step, value in seen if step < 60) <= 1
    assert {value for step, value in seen if step > 60} == {1.3}


def test_decay_that_is_added_to_the_gradient_is_weighed_against_it() -> None:
    weight = torch.full((4,), 3.0, requires_grad=True)
    assert decay(torch.optim.Adam([weight]), 0.5) == {OUTWEIGHS: 0.0}
    assert decay(torch.optim.Adam([weight], weight_decay=0.1), 0.5) == {OUTWEIGHS: pytest.approx(0.1 * 6 / 0.5)}
    assert decay(torch.optim.Adam([weight], weight_decay=0.1), None) == {}
    shrunk = decay(torch.optim.AdamW([weight], lr=0.01, weight_decay=0.1), 0.5)
    assert shrunk == {"optim/decay_frac": pytest.approx(1e-3)}


@pytest.mark.parametrize(("make", "every"), [(worlds.ppo, 1), (worlds.dqn, 10), (worlds.sac, 10)])
def test_weight_decay_that_is_set_shows_at_the_next_row(make, every) -> None:
    class Decaying(Changing):
        @staticmethod
        def change(model) -> None:
            for optimiser in (getattr(model, "actor", None) or model.policy).optimizer, model.policy.optimizer:
                optimiser.param_groups[0]["weight_decay"] = 100.0

    monitor = Answering()
    model = make()
    if not hasattr(model.policy, "optimizer"):
        model.policy.optimizer = model.actor.optimizer
    model.learn(100, callback=Decaying(monitor, every_steps=every))
    seen = [(step, row[OUTWEIGHS]) for step, row in monitor.given if OUTWEIGHS in row]
    assert {value for step, value in seen if step < 60} == {0.0}
    assert min(value for step, value in seen if step > 70) > 1


PPO_SETTINGS = {
    "critic/gae_lambda": 0.95, "policy/clip_range": 0.2, "policy/ent_coef": 0.01, "critic/loss_weight": 1.0,
    "optim/epochs": 2, "optim/gradient_steps": 2, "optim/max_grad_norm": 0.01, "advantage/normalised": 0,
}  # fmt: skip
SAC_SETTINGS = {"critic/target_tau": 0.01, "replay/capacity": 500, "optim/batch_size": 16, "optim/gradient_steps": 4}


@pytest.mark.parametrize(("make", "settings"), [(torchrl_worlds.ppo, PPO_SETTINGS), (torchrl_worlds.sac, SAC_SETTINGS)])
def test_torchrl_rows_hold_what_trainer_loss_and_hooks_obey(make, settings) -> None:
    """PPO's discount lies in the estimator that hangs on the trainer, SAC's in its loss module."""
    monitor = Answering()
    make(frames=64, hook=MonitorHook(monitor))
    rows = [row for _, row in monitor.given if "optim/lr" in row]
    assert len(rows) == 2
    assert {row["optim/lr"] for row in rows} == {1e-2}
    for row in rows:
        assert row[DISCOUNT] == pytest.approx(0.99)
        assert {name: row[name] for name in settings} == pytest.approx(settings)
