from dataclasses import asdict

import gymnasium
import pytest
import torch

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.checkpoints.store import Checkpoints
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.dqn import train as train_dqn
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.mmrkhs import train as train_mmrkhs
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.ppo import train as train_ppo
from firstbreak.trainers.sac import SAC, SACConfig
from firstbreak.trainers.sac import train as train_sac
from tests.unit.monitor.adapters.answering import Answering, Broken

torch.set_num_threads(1)
TINY = {"num_envs": 2, "hidden_sizes": (8,)}
OFF = {"hidden_sizes": (8,), "batch_size": 8, "learning_starts": 10, "log_every_steps": 10}
TRAINERS = {
    "PPO": (PPO, PPOConfig(num_steps=16, update_epochs=2, **TINY), train_ppo, "CartPole-v1"),
    "MM-RKHS": (MMRKHS, MMRKHSConfig(rollout_steps=16, epochs=2, **TINY), train_mmrkhs, "CartPole-v1"),
    "DQN": (DQN, DQNConfig(**OFF), train_dqn, "CartPole-v1"),
    "SAC": (SAC, SACConfig(**OFF), train_sac, "Pendulum-v1"),
}


def make(name):
    kind, config, train, task = TRAINERS[name]
    return kind, config, train, lambda: gymnasium.make(task)


def parameters(trainer):
    return [p for part in vars(trainer).values() if isinstance(part, torch.nn.Module) for p in part.parameters()]


@pytest.mark.parametrize("name", TRAINERS)
def test_wired_literally_and_not_changed(name):
    kind, config, train, world = make(name)
    monitor = Monitor(None)
    trainer = kind(world, seed=0, config=config)
    trainer.learn(64, log_to(monitor, trainer))
    # SAC draws actions for its own log, so that it is compared with one that logs elsewhere.
    nowhere = (lambda row, step: None) if name == "SAC" else None
    plain = train(world, total_steps=64, seed=0, gamma=config.gamma, config=config, log=nowhere)
    assert all(torch.equal(a, b) for a, b in zip(parameters(trainer), parameters(plain), strict=True))
    log = monitor.run_log()
    assert (log.algorithm, log.clock) == (name, "env_steps")
    assert monitor.rows >= 2
    assert monitor.faults == []
    assert log.config["gamma"] == asdict(config)["gamma"]
    assert log.config["env_id"] == world().spec.id


@pytest.mark.parametrize("name", TRAINERS)
def test_stop_training_reaches_the_loop(name):
    _, config, train, world = make(name)
    monitor = Answering(Action.STOP_TRAINING, at=1)
    trainer = train(world, total_steps=100_000, seed=0, config=config, log=log_to(monitor))
    assert len(monitor.given) == 2
    assert trainer.env_steps < 200


@pytest.mark.parametrize("name", ["PPO", "SAC"])
def test_roll_back_puts_networks_optimisers_and_temperature_back(tmp_path, name):
    kind, config, _, world = make(name)
    monitor = Answering(Action.ROLL_BACK, at=2)
    monitor.checkpoints = Checkpoints(tmp_path, strict=True)
    trainer = kind(world, seed=0, config=config)
    log = log_to(monitor, trainer, checkpoint_rows=1)

    class Stop(Exception):
        pass

    def stopping(metrics, step):
        verdict = log(metrics, step)
        if monitor.went_back:
            raise Stop
        return verdict

    with pytest.raises(Stop):
        trainer.learn(1000, stopping)
    state = monitor.checkpoints.load()
    assert monitor.faults == []
    assert all(torch.equal(v, state["actor"][k]) for k, v in trainer.actor.state_dict().items())
    if name == "SAC":
        assert torch.equal(trainer.log_alpha.detach(), state["log_alpha"])


def test_a_broken_monitor_stops_nothing():
    _, config, train, world = make("PPO")
    trainer = train(world, total_steps=64, seed=0, config=config, log=log_to(Broken()))
    assert trainer.env_steps == 64


def test_a_log_that_answers_nothing_is_as_before():
    _, config, train, world = make("PPO")
    rows = []
    train(world, total_steps=64, seed=0, config=config, log=lambda row, step: rows.append(step))
    assert rows == [32, 64]


def test_a_roll_back_that_cannot_be_had_ends_the_training(tmp_path):
    kind, config, _, world = make("PPO")
    monitor = Answering(Action.ROLL_BACK, at=0)
    monitor.checkpoints = Checkpoints(tmp_path)
    trainer = kind(world, seed=0, config=config)
    trainer.learn(320, log_to(monitor, trainer))
    assert trainer.env_steps == 32
    assert "There is none." in monitor.faults[0]


def test_a_stop_of_an_update_that_is_over_is_said_to_be_too_late():
    _, config, train, world = make("PPO")
    monitor = Answering(Action.STOP_UPDATE, at=0)
    trainer = train(world, total_steps=64, seed=0, config=config, log=log_to(monitor))
    assert trainer.env_steps == 64
    assert len(monitor.faults) == 1
    assert "leaves nothing out" in monitor.faults[0]
