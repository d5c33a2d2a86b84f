"""Whether stored transitions follow from one another: against a slow loop, and in real buffers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.monitor.adapters.parts.replay_chain import METRIC, broken, newest, of_sb3
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.sac import SAC, SACConfig
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 3))
def test_the_share_is_that_of_a_slow_loop(seed, steps, copies):
    rng = np.random.default_rng(seed)
    obs, following = (rng.integers(0, 2, (steps, copies, 2)).astype(float) for _ in range(2))
    ends = rng.integers(0, 2, (steps, copies))
    links = [
        (following[t, n].tolist(), obs[t + 1, n].tolist())
        for t in range(steps - 1)
        for n in range(copies)
        if not ends[t, n]
    ]
    wanted = {METRIC: pytest.approx(np.mean([a != b for a, b in links]))} if links else {}
    assert broken(obs, following, ends) == wanted


def test_nan_follows_nan():
    obs = np.full((3, 1, 1), np.nan)
    assert broken(obs, obs, np.zeros((3, 1))) == {METRIC: 0.0}


def test_the_newest_places_of_a_ring():
    assert newest(3, 1, 5).tolist() == [3, 4, 0]


@pytest.mark.parametrize("make", [worlds.dqn, worlds.sac, worlds.td3])
def test_a_real_buffer_is_a_chain_also_where_it_is_full(make):
    model, monitor = make(buffer_size=50), Answering()
    model.learn(120, callback=MonitorCallback(monitor, every_steps=10))
    found = [row[METRIC] for row in monitor.merged().values() if METRIC in row]
    assert len(found) > 5
    assert set(found) == {0.0}


def test_one_array_for_both_observations_shows():
    model, monitor = worlds.dqn(), Answering()
    usual = model.replay_buffer.add
    model.replay_buffer.add = lambda obs, following, *rest: usual(following, following, *rest)
    model.learn(80, callback=MonitorCallback(monitor, every_steps=10))
    assert monitor.latest[METRIC] == 1.0


def test_a_buffer_that_keeps_each_observation_once_or_in_pieces_is_not_asked():
    one = worlds.dqn(optimize_memory_usage=True, replay_buffer_kwargs={"handle_timeout_termination": False})
    pieces = worlds.DQN("MultiInputPolicy", worlds.Line(pieces=True), buffer_size=50, **worlds.small())
    for model in (one, pieces):
        model.learn(30)
        assert of_sb3(model.replay_buffer) == {}


def aliased(trainer):
    usual = trainer.buffer.extend
    trainer.buffer.extend = lambda rows: usual(rows.clone().update({"obs": rows["next_obs"]}))


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("name", ["sac", "dqn"])
def test_the_reference_trainers(name, copies):
    size, make = 90, lambda: worlds.Line(discrete=name == "dqn")
    more = {"num_envs": copies, "buffer_size": size, "hidden_sizes": (8,), "batch_size": 8, "learning_starts": 10}
    trainer = DQN(make, config=DQNConfig(**more)) if name == "dqn" else SAC(make, config=SACConfig(**more))
    monitor = Answering()
    trainer.learn(300, log_to(monitor, trainer))
    assert {row[METRIC] for row in monitor.merged().values() if METRIC in row} == {0.0}
    aliased(trainer)
    trainer.learn(600, log_to(monitor, trainer))
    assert monitor.latest[METRIC] == 1.0
