"""rsl_rl is not installed: these runners call their writer as its own do, of 3.x and of 4.x."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from firstbreak.errors import InputError
from firstbreak.monitor.adapters.rsl_rl import TrainingStopped, watch_runner
from firstbreak.monitor.verdict import Action
from tests.unit.monitor.adapters.answering import Answering, Broken

torch.set_num_threads(1)
CONFIG = {"num_steps_per_env": 8, "algorithm": {"gamma": 0.98, "clip_param": 0.3, "schedule": "adaptive"}}


class Runner:
    """Collects, updates and logs in the order of rsl_rl's OnPolicyRunner."""

    def __init__(self, folder, logger="tensorboard", modern=False):
        self.cfg, self.log_dir = {**CONFIG, "logger": logger}, None if folder is None else str(folder)
        torch.manual_seed(0)
        self.net = torch.nn.Linear(3, 1)
        optimiser = torch.optim.Adam(self.net.parameters())
        self.alg = SimpleNamespace(optimizer=optimiser, storage=SimpleNamespace(), norms=[])
        self.iteration = 0
        if modern:
            self.logger = SimpleNamespace(writer=SummaryWriter(self.log_dir))
        else:
            self.writer = None

    def learn(self, iterations):
        if hasattr(self, "writer") and self.writer is None and self.log_dir is not None:
            self.logger_type = "tensorboard"
            self.writer = SummaryWriter(self.log_dir)
        for _ in range(iterations):
            self._collect()
            self._update()
            self._log(self.writer if hasattr(self, "writer") else self.logger.writer)
            assert getattr(self, "logger_type", "tensorboard") == "tensorboard"
            self.iteration += 1

    def _collect(self):
        with torch.inference_mode():
            storage = self.alg.storage
            storage.values, storage.rewards = torch.randn(8, 4, 1), torch.randn(8, 4, 1)
            storage.returns = storage.values + torch.randn(8, 4, 1)

    def _update(self):
        for _ in range(2):
            loss = (self.net(torch.ones(4, 3)) ** 2).mean()
            self.alg.optimizer.zero_grad()
            loss.backward()
            self.alg.norms.append(float(torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.01)))
            self.alg.optimizer.step()

    def _log(self, writer):
        if writer is None:
            return
        it = self.iteration
        for tag, value in (("Loss/value_function", 1.0), ("Loss/surrogate", -0.1), ("Policy/mean_noise_std", 0.9)):
            writer.add_scalar(tag, value, it)
        if it > 0:  # no episode has ended in the first iteration
            writer.add_scalar("Train/mean_reward", 5.0, it)
            writer.add_scalar("Train/mean_episode_length", 7.0, it)
            writer.add_scalar("Train/mean_reward/time", 5.0, 100 * it)
            writer.add_scalar("Train/mean_episode_length/time", 7.0, 100 * it)


@pytest.mark.parametrize("modern", [False, True])
def test_a_row_an_iteration_with_what_rsl_rl_does_not_log(tmp_path, modern):
    runner, monitor = Runner(tmp_path, modern=modern), Answering()
    writer = watch_runner(runner, monitor)
    runner.learn(3)
    writer.close()
    rows = monitor.merged()
    assert list(rows) == [0.0, 1.0, 2.0]
    last, storage = rows[2.0], runner.alg.storage
    assert last["Loss/surrogate"] == -0.1
    assert last["Train/mean_reward"] == 5.0
    assert not any(key.endswith("/time") for key in last)
    assert last["optim/grad_norm"] == pytest.approx(np.mean(runner.alg.norms[4:6]))
    raw = (storage.returns - storage.values).double().numpy()
    assert last["advantage/std"] == pytest.approx(raw.std(), rel=1e-4)
    explained = 1 - raw.var() / storage.returns.double().numpy().var()
    assert last["critic/explained_variance"] == pytest.approx(explained, abs=1e-4)
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [e.step for e in events.Scalars("Train/mean_reward/time")] == [100, 200]
    assert monitor.told["gamma"] == 0.98
    assert monitor.told["schedule"] == "adaptive"
    assert monitor.faults == []


def test_the_verdict_is_there_in_the_same_iteration_and_ends_the_loop(tmp_path):
    runner, monitor = Runner(tmp_path), Answering(Action.STOP_TRAINING, at=1)
    watch_runner(runner, monitor)
    with pytest.raises(TrainingStopped, match="iteration 1"):
        runner.learn(100)
    assert runner.iteration == 1


def test_nothing_is_written_where_rsl_rl_writes_nothing():
    runner, monitor = Runner(None), Answering()
    watch_runner(runner, monitor)
    runner.learn(2)
    assert runner.iteration == 2
    assert len(monitor.given) >= 1


def test_a_late_writer_of_another_kind_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(InputError, match="wandb"):
        watch_runner(Runner(tmp_path, logger="wandb"), Answering())


def test_a_broken_monitor_stops_nothing_and_the_interface_of_5_is_whole(tmp_path):
    runner = Runner(tmp_path, modern=True)
    stopped = []
    runner.logger.writer.stop = lambda: stopped.append(True)
    runner.logger.writer.store_config = lambda env, train: stopped.append(train)
    writer = watch_runner(runner, Broken())
    writer.store_config({}, {"a": 1})
    runner.learn(3)
    writer.stop()
    assert stopped == [{"a": 1}, True]
    assert runner.iteration == 3
