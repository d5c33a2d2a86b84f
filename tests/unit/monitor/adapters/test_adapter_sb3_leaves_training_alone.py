import numpy as np
import pytest
import torch
from stable_baselines3.common.callbacks import CheckpointCallback
from stable_baselines3.common.env_util import make_vec_env

from firstbreak.monitor.adapters.sb3 import MonitorCallback
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering, Broken

CASES = {
    "ppo": (lambda: worlds.ppo(target_kl=0.02), 130),
    "ppo continuous gsde": (lambda: worlds.ppo(worlds.Line(discrete=False), use_sde=True, sde_sample_freq=4), 70),
    "ppo many envs": (lambda: worlds.ppo(make_vec_env(worlds.Line, 3), n_steps=16, batch_size=12), 100),
    "ppo dict": (lambda: worlds.ppo(worlds.Line(pieces=True), policy="MultiInputPolicy"), 70),
    "a2c": (worlds.a2c, 30),
    "dqn": (worlds.dqn, 80),
    "sac": (worlds.sac, 50),
    "sac fixed alpha": (lambda: worlds.sac(ent_coef=0.1), 40),
    "td3": (worlds.td3, 50),
}


def trained(make, steps, callback):
    np.random.seed(5)
    torch.manual_seed(5)
    model = make()
    model.learn(steps, callback=callback)
    return model, float(torch.rand(())), float(np.random.random())


@pytest.mark.parametrize("case", CASES)
def test_weights_and_random_numbers_are_the_same_bit_for_bit(case):
    make, steps = CASES[case]
    monitor = Answering()
    watched, *after = trained(make, steps, MonitorCallback(monitor, every_steps=10))
    plain, *expected = trained(make, steps, None)
    assert worlds.same(watched, plain)
    assert after == expected
    assert monitor.faults == []
    assert len(monitor.given) >= 3


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
def test_a_broken_monitor_stops_nothing(make):
    watched, *after = trained(make, 70, MonitorCallback(Broken(), every_steps=10))
    plain, *expected = trained(make, 70, None)
    assert worlds.same(watched, plain)
    assert after == expected


def test_a_model_can_be_saved_while_it_is_watched(tmp_path):
    model = worlds.ppo()
    saver = CheckpointCallback(40, str(tmp_path))
    model.learn(70, callback=[MonitorCallback(Answering(), every_steps=1), saver])
    assert worlds.PPO.load(next(tmp_path.glob("*.zip"))).n_steps == 32


def test_hooks_and_sink_are_gone_after_training_and_not_doubled_by_a_second_one():
    model, monitor = worlds.ppo(), Answering()
    callback = MonitorCallback(monitor, every_steps=1)
    model.learn(32, callback=callback)
    model.learn(32, callback=callback, reset_num_timesteps=False)
    optimiser = model.policy.optimizer
    assert not optimiser._optimizer_step_pre_hooks
    assert not optimiser._optimizer_step_post_hooks
    assert all(type(one).__name__ != "_Sink" for one in model.logger.output_formats)
    assert set(monitor.merged()) == {32, 64}
