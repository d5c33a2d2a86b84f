"""What an off-policy model of Stable-Baselines3 does beside what its network would: noise, and actions of others."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from stable_baselines3.common.noise import NormalActionNoise, OrnsteinUhlenbeckActionNoise

from firstbreak.monitor.adapters.parts.sb3.acted import BEYOND, NOISE_MEAN, NOISE_STD, UNLIKE, Acted
from firstbreak.monitor.adapters.parts.standardised import METRIC as DRAWS
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.normal_draws import CERTAIN as UNLIKE_CHANCE
from firstbreak.monitor.odds import CERTAIN
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)


class Changing(MonitorCallback):
    """Something outside the monitor's sight changes the model at step 400."""

    change = staticmethod(lambda model: None)

    def _on_step(self) -> bool:
        if self.num_timesteps == 400:
            self.change(self.model)
        return super()._on_step()


def rows_of(model, change=lambda model: None, steps=800):
    monitor = Answering()
    callback = Changing(monitor, every_steps=100)
    callback.change = change
    model.learn(steps, callback=callback)
    assert monitor.faults == []
    return monitor.given


def noisy(mean=0.0, sigma=0.1, kind=NormalActionNoise):
    return worlds.td3(action_noise=kind(np.full(1, mean), np.full(1, sigma)))


def test_noise_is_measured_as_it_is_set() -> None:
    rows = [row for _, row in rows_of(noisy()) if NOISE_MEAN in row]
    assert len(rows) >= 3
    assert abs(np.mean([row[NOISE_MEAN] for row in rows])) < 0.05
    assert np.mean([row[NOISE_STD] for row in rows]) == pytest.approx(0.1, rel=0.4)


def test_a_mean_that_is_given_to_the_noise_shows() -> None:
    def shift(model) -> None:
        model.action_noise._mu = model.action_noise._mu + 0.8

    seen = [(step, row[NOISE_MEAN]) for step, row in rows_of(noisy(), shift) if NOISE_MEAN in row]
    assert max(abs(mean) for step, mean in seen if step < 400) < 0.1
    assert min(mean for step, mean in seen if step > 520) > 0.5


def test_noise_that_wanders_is_not_measured() -> None:
    assert not any(NOISE_MEAN in row for _, row in rows_of(noisy(kind=OrnsteinUhlenbeckActionNoise)))


@pytest.mark.parametrize("make", [worlds.sac, worlds.ppo])
def test_a_policy_that_draws_has_no_noise(make) -> None:
    assert not any({NOISE_MEAN, UNLIKE} & row.keys() for _, row in rows_of(make(), steps=300))


def dqn(**more):
    return worlds.dqn(exploration_fraction=0.2, exploration_final_eps=0.1, **more)


def test_actions_of_dqn_are_the_networks_but_for_epsilon() -> None:
    found = [row[UNLIKE] for _, row in rows_of(dqn()) if UNLIKE in row]
    assert len(found) >= 6
    assert abs(np.mean(found)) < 0.12


def test_another_network_that_acts_shows() -> None:
    def other(model) -> None:
        usual = model.policy.predict

        def predict(*args, **named):
            actions, state = usual(*args, **named)
            return (actions + 1) % model.action_space.n, state

        model.policy.predict = predict

    seen = [(step, row[UNLIKE]) for step, row in rows_of(dqn(), other) if UNLIKE in row]
    assert min(excess for step, excess in seen if step > 520) > 0.5


def test_a_look_that_fails_is_the_last() -> None:
    model = dqn()
    model.num_timesteps = 1000  # nothing was observed yet, which no network takes
    acted = Acted(model)
    for _ in range(7):
        acted.look({"buffer_actions": np.zeros((1, 1))})
    with pytest.raises(ValueError, match="observation"):
        acted.look({"buffer_actions": np.zeros((1, 1))})
    for _ in range(16):
        acted.look({"buffer_actions": np.zeros((1, 1))})
    assert acted.take() == {}


def test_a_coin_that_is_turned_is_told_within_some_steps() -> None:
    def turned(model) -> None:
        usual = model.predict

        def predict(*args, **named):
            meant, model.exploration_rate = model.exploration_rate, 1 - model.exploration_rate
            try:
                return usual(*args, **named)
            finally:
                model.exploration_rate = meant

        model.predict = predict

    rows = rows_of(dqn(), turned)
    beyond = [(step, row[BEYOND]) for step, row in rows if BEYOND in row]
    assert max(nats for step, nats in beyond if step <= 400) < 12
    first = next((step, row) for step, row in rows if row.get(BEYOND, 0) >= CERTAIN)
    assert first[0] < 480
    assert list(first[1]) == [BEYOND]  # a row of its own, before the next one is due


def walking(model) -> None:
    """Noise adds up from step to step."""
    usual, walk = model._sample_action, [0.0]
    rng = np.random.default_rng(5)

    def sample(*args, **named):
        action, stored = usual(*args, **named)
        walk[0] += 0.1 * abs(rng.normal())
        push = np.float32(np.sin(walk[0]))
        return np.clip(action + push, -1, 1), np.clip(stored + push, -1, 1)

    model._sample_action = sample


def every_kind(noise=0.1):
    return [lambda: noisy(sigma=noise), worlds.sac]


@pytest.mark.parametrize("make", every_kind(), ids=["td3", "sac"])
def test_draws_that_are_pushed_are_told_within_some_steps(make) -> None:
    rows = [(step, row[DRAWS]) for step, row in rows_of(make(), walking) if DRAWS in row]
    assert max(nats for step, nats in rows if step <= 400) < 12
    assert 400 < next(step for step, nats in rows if nats >= UNLIKE_CHANCE) < 500


@pytest.mark.parametrize("make", every_kind(), ids=["td3", "sac"])
def test_draws_as_they_are_set_are_no_news(make) -> None:
    found = [row[DRAWS] for _, row in rows_of(make()) if DRAWS in row]
    assert len(found) >= 4
    assert max(found) < 12


@pytest.mark.parametrize(
    "make",
    [
        lambda: noisy(kind=OrnsteinUhlenbeckActionNoise),
        lambda: worlds.sac(use_sde=True),
        lambda: worlds.sac(action_noise=NormalActionNoise(np.zeros(1), np.ones(1))),
        lambda: noisy(sigma=0.0),
    ],
    ids=["noise that wanders", "noise that is held", "noise on draws", "no noise"],
)
def test_where_the_spread_is_not_known_nothing_is_said(make) -> None:
    assert not any(DRAWS in row for _, row in rows_of(make()))
