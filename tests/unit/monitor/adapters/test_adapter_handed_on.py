"""What real trainers are fed is what the environment gave, and a planted mistake shows, in each kind of trainer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from firstbreak.monitor.adapters.parts.reference.handed_on import RESIDUAL
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.world import World, watched
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)
ONES = ("data/obs_fit", "data/reward_fit", "data/reward_gain", "data/action_fit", "data/end_kept_frac")
NOUGHTS = ("data/obs_shift", "data/end_added_frac")
SMALL = {"hidden_sizes": (8,), "num_envs": 2}
REFERENCE = {
    "ppo": lambda make: PPO(make, config=PPOConfig(num_steps=32, **SMALL)),
    "mmrkhs": lambda make: MMRKHS(make, config=MMRKHSConfig(rollout_steps=32, **SMALL)),
    "dqn": lambda make: DQN(make, config=DQNConfig(learning_starts=20, batch_size=8, log_every_steps=32, **SMALL)),
    "sac": lambda make: SAC(make, config=SACConfig(learning_starts=20, batch_size=8, log_every_steps=32, **SMALL)),
}


def sb3(name: str, monitor, copies: int = 2, normalised: bool = False):
    """A model whose environments the monitor's world watches."""
    world, discrete = World(monitor), name in {"ppo", "dqn"}
    env = DummyVecEnv([lambda: watched(worlds.Line(discrete=discrete), world)] * copies)
    return getattr(worlds, name)(VecNormalize(env) if normalised else env)


def rows(monitor) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for _, row in monitor.given:
        for key, value in row.items():
            found.setdefault(key, []).append(value)
    return found


def identities(found, but: tuple[str, ...] = ()) -> None:
    for name in ONES:
        if name not in but:
            assert found[name] == pytest.approx([1] * len(found[name]), abs=1e-5), name
    for name in NOUGHTS:
        if name not in but:
            assert found[name] == pytest.approx([0] * len(found[name]), abs=1e-3), name


@pytest.mark.parametrize("name", ["ppo", "a2c", "dqn", "sac", "td3"])
def test_what_a_model_of_sb3_is_fed_is_what_was_exchanged(name: str) -> None:
    monitor = Answering()
    sb3(name, monitor).learn(400, callback=MonitorCallback(monitor, every_steps=40))
    assert not monitor.faults
    found = rows(monitor)
    assert len(found["data/obs_fit"]) > 4
    # Actions between -1 and 1 stand for those of the environment, between -2 and 2.
    identities(found)


def test_a_normaliser_is_followed() -> None:
    monitor = Answering()
    sb3("ppo", monitor, normalised=True).learn(1500, callback=MonitorCallback(monitor, every_steps=40))
    found = rows(monitor)
    assert min(found["data/obs_fit"][4:]) > 0.95
    assert max(found["data/obs_shift"][10:]) < 0.5
    assert min(found["data/reward_fit"][4:]) > 0.9


def test_rewards_that_a_rollout_keeps_a_step_late_show() -> None:
    monitor = Answering()
    model = sb3("ppo", monitor)
    usual = model.rollout_buffer.compute_returns_and_advantage

    def late(*given, **named):
        model.rollout_buffer.rewards = np.roll(model.rollout_buffer.rewards, 3, axis=0)
        usual(*given, **named)

    model.rollout_buffer.compute_returns_and_advantage = late
    model.learn(400, callback=MonitorCallback(monitor, every_steps=40))
    assert max(rows(monitor)["data/reward_fit"]) < 0.9


def test_ends_that_a_replay_buffer_does_not_keep_show() -> None:
    monitor = Answering()
    model = sb3("dqn", monitor)
    usual = model.replay_buffer.add
    model.replay_buffer.add = lambda obs, after, action, reward, done, infos: usual(
        obs, after, action, reward, np.zeros_like(done), infos
    )
    model.learn(400, callback=MonitorCallback(monitor, every_steps=40))
    assert set(rows(monitor)["data/end_kept_frac"]) == {0.0}


def test_a_world_that_watches_one_of_two_copies_says_nothing() -> None:
    monitor = Answering()
    world = World(monitor)
    env = DummyVecEnv([lambda: watched(worlds.Line(), world), worlds.Line])
    worlds.ppo(env).learn(200, callback=MonitorCallback(monitor, every_steps=40))
    assert not monitor.faults
    assert not {*ONES, *NOUGHTS} & set(rows(monitor))


@pytest.mark.parametrize("name", list(REFERENCE))
def test_what_a_reference_trainer_is_fed_is_what_was_exchanged(name: str) -> None:
    monitor = Answering(clock="env_steps")
    world = World(monitor)
    trainer = REFERENCE[name](lambda: watched(worlds.Line(discrete=name != "sac"), world))
    trainer.learn(400, log_to(monitor, trainer))
    assert not monitor.faults
    found = rows(monitor)
    assert len(found["data/obs_fit"]) > 3
    identities(found)
    assert (RESIDUAL in found) == (name in {"dqn", "sac"})
    assert set(found.get(RESIDUAL, [0.0])) == {0.0}


@pytest.mark.parametrize("name", ["dqn", "sac"])
def test_targets_of_other_rows_show(name: str) -> None:
    monitor = Answering(clock="env_steps")
    trainer = REFERENCE[name](lambda: worlds.Line(discrete=name != "sac"))
    log, usual = log_to(monitor, trainer), trainer.td_target
    trainer.td_target = lambda sample: usual(sample).roll(1)
    trainer.learn(400, log)
    assert not monitor.faults
    assert max(rows(monitor)[RESIDUAL]) > 0.5


def test_a_rollout_of_other_steps_shows() -> None:
    monitor = Answering(clock="env_steps")
    world = World(monitor)
    trainer = REFERENCE["ppo"](lambda: watched(worlds.Line(), world))
    log, usual, kept = log_to(monitor, trainer), trainer.collect, []

    def collect():
        fresh = usual()
        kept.append(fresh)
        return kept[0].clone()

    trainer.collect = collect
    trainer.learn(400, log)
    assert min(rows(monitor)["data/obs_fit"]) < 0.5


@pytest.mark.parametrize("name", list(REFERENCE))
def test_the_training_is_as_without_a_look(name: str) -> None:
    """The targets are asked again; the draws of the training are those that they were."""

    def weights(watches: bool):
        trainer = REFERENCE[name](lambda: worlds.Line(discrete=name != "sac"))
        trainer.learn(200, log_to(Answering(clock="env_steps"), trainer) if watches else (lambda *_: None))
        return torch.cat([weight.flatten() for group in trainer_weights(trainer) for weight in group])

    torch.testing.assert_close(weights(True), weights(False), rtol=0, atol=0)


def trainer_weights(trainer):
    return [list(part.parameters()) for part in vars(trainer).values() if isinstance(part, torch.nn.Module)]


@pytest.mark.parametrize("name", ["ppo", "mmrkhs"])
def test_stored_values_are_those_of_the_critic(name: str) -> None:
    monitor = Answering(clock="env_steps")
    trainer = REFERENCE[name](worlds.Line)
    log, usual = log_to(monitor, trainer), trainer.collect
    trainer.learn(200, log)
    sound = rows(monitor)["critic/value_residual"]
    assert max(sound) < 1e-4

    def stale():
        fresh = usual()
        fresh["value"] = fresh["value"].roll(1)
        return fresh

    trainer.collect = stale
    trainer.learn(400, log)
    assert max(rows(monitor)["critic/value_residual"]) > 0.1


@pytest.mark.parametrize("name", ["ppo", "a2c"])
def test_values_that_a_rollout_of_sb3_keeps_are_those_of_the_critic(name: str) -> None:
    monitor = Answering()
    model = sb3(name, monitor, normalised=True)
    model.learn(400, callback=MonitorCallback(monitor, every_steps=40))
    assert max(rows(monitor)["critic/value_residual"]) < 1e-4
    usual = model.rollout_buffer.compute_returns_and_advantage

    def stale(*given, **named):
        model.rollout_buffer.values = np.roll(model.rollout_buffer.values, 1, axis=0)
        usual(*given, **named)

    model.rollout_buffer.compute_returns_and_advantage = stale
    model.learn(200, callback=MonitorCallback(monitor, every_steps=40), reset_num_timesteps=False)
    assert max(rows(monitor)["critic/value_residual"]) > 0.1
