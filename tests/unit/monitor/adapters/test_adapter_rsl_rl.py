"""These runners make and call their writer as those of rsl_rl do, of 3.x and from 4.x on; the real one runs in e2e."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from firstbreak.errors import InputError
from firstbreak.monitor.adapters.rsl_rl import TrainingStopped, watch_runner
from firstbreak.monitor.checkpoints import Checkpoints
from firstbreak.monitor.verdict import Action
from tests.unit.monitor.adapters.answering import Answering, Broken

torch.set_num_threads(1)
CONFIG = {"num_steps_per_env": 8, "algorithm": {"gamma": 0.98, "clip_param": 0.3, "schedule": "adaptive"}}


class LogWriter:
    """What 5.x asks of a service's writer before it hands over models or ends it."""

    def __init__(self):
        self.told = []

    def add_scalar(self, tag, value, step):
        self.told.append(tag)

    def store_config(self, env, train):
        self.told.append("config")

    def stop(self):
        self.told.append("stop")


class Logger:
    """Makes its writer when `learn` begins, and a new one when it begins again, as rsl_rl's does from 4.0 on."""

    def __init__(self, folder, make=SummaryWriter):
        self.folder, self.make, self.writer = folder, make, None

    def init_logging_writer(self):
        self.writer = None if self.folder is None else self.make(self.folder)
        if isinstance(self.writer, LogWriter):
            self.writer.store_config({}, CONFIG)

    def log(self, it):
        if self.writer is not None:
            scalars(self.writer, it)

    def stop_logging_writer(self):
        if isinstance(self.writer, LogWriter):
            self.writer.stop()


def scalars(writer, it):
    for tag, value in (("Loss/value_function", 1.0), ("Loss/surrogate", -0.1), ("Policy/mean_noise_std", 0.9)):
        writer.add_scalar(tag, value, it)
    if it > 0:  # no episode has ended in the first iteration
        writer.add_scalar("Train/mean_reward", 5.0, it)
        writer.add_scalar("Train/mean_episode_length", 7.0, it)
        if not isinstance(writer, LogWriter):
            writer.add_scalar("Train/mean_reward/time", 5.0, 100 * it)
            writer.add_scalar("Train/mean_episode_length/time", 7.0, 100 * it)


class Runner:
    """Collects, updates and logs in the order of rsl_rl's OnPolicyRunner."""

    def __init__(self, folder, logger="tensorboard", modern=False, make=SummaryWriter):
        self.cfg, self.log_dir = {**CONFIG, "logger": logger}, None if folder is None else str(folder)
        torch.manual_seed(0)
        self.net = torch.nn.Linear(3, 1)
        optimiser = torch.optim.Adam(self.net.parameters())
        self.alg = SimpleNamespace(optimizer=optimiser, storage=SimpleNamespace(), norms=[])
        self.iteration = 0
        if modern:
            self.logger = Logger(self.log_dir, make)
        else:
            self.writer = None

    def learn(self, iterations):
        if hasattr(self, "writer") and self.writer is None and self.log_dir is not None:
            self.logger_type = "tensorboard"
            self.writer = SummaryWriter(self.log_dir)
        if not hasattr(self, "writer"):
            self.logger.init_logging_writer()
        for _ in range(iterations):
            self._collect()
            self._update()
            if not hasattr(self, "writer"):
                self.logger.log(it=self.iteration)
            elif self.writer is not None:
                scalars(self.writer, self.iteration)
            assert getattr(self, "logger_type", "tensorboard") == "tensorboard"
            self.iteration += 1
        if not hasattr(self, "writer"):
            self.logger.stop_logging_writer()

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


@pytest.mark.parametrize("folder", [True, False])
@pytest.mark.parametrize("modern", [False, True])
def test_a_broken_monitor_stops_nothing(tmp_path, modern, folder):
    runner = Runner(tmp_path if folder else None, modern=modern)
    watch_runner(runner, Broken())
    runner.learn(3)
    assert runner.iteration == 3


def test_a_service_of_5_gets_everything_it_would_get_without_the_monitor():
    told = []
    for watched in (False, True):
        made = LogWriter()
        runner, monitor = Runner("runs", modern=True, make=lambda folder, made=made: made), Answering()
        if watched:
            watch_runner(runner, monitor)
        runner.learn(3)
        told.append(made.told)
    assert told[0] == told[1]
    assert told[0][0] == "config"
    assert told[0][-1] == "stop"
    assert list(monitor.merged()) == [0.0, 1.0, 2.0]
    assert monitor.faults == []


def test_every_iteration_is_judged_at_its_own_end_and_again_when_the_runner_learns_once_more(tmp_path):
    runner, monitor = Runner(tmp_path, modern=True), Answering()
    watch_runner(runner, monitor)
    runner.learn(1)  # no episode has ended, so nothing comes last
    assert list(monitor.merged()) == [0.0]
    runner.learn(2)
    assert list(monitor.merged()) == [0.0, 1.0, 2.0]
    assert "optim/grad_norm" in monitor.merged()[2.0]


def test_where_rsl_rl_logs_nothing_that_is_said():
    runner, monitor = Runner(None, modern=True), Answering()
    watch_runner(runner, monitor)
    runner.learn(1)
    assert runner.logger.writer is None  # a writer there would make the runner save models to nowhere
    assert len(monitor.faults) == 1
    assert "no log_dir" in monitor.faults[0]


@pytest.mark.parametrize("modern", [False, True])
def test_a_roll_back_puts_networks_moments_and_the_adaptive_rate_back(tmp_path, modern):
    monitor = Answering(Action.ROLL_BACK, at=4, checkpoints=Checkpoints(tmp_path / "store"))
    runner = Runner(tmp_path / "log", modern=modern)
    runner.alg.learning_rate = 0.5  # what an adaptive schedule has made of it meanwhile
    watch_runner(runner, monitor, checkpoint_rows=3)
    runner.learn(4)  # kept after iterations 0 and 3
    kept = [weight.clone() for weight in runner.net.parameters()]
    moments = [held["exp_avg"].clone() for held in runner.alg.optimizer.state.values()]
    runner._update()
    assert not all(map(torch.equal, kept, runner.net.parameters()))
    runner.learn(1)
    assert all(map(torch.equal, kept, runner.net.parameters()))
    assert all(
        torch.equal(a, held["exp_avg"]) for a, held in zip(moments, runner.alg.optimizer.state.values(), strict=True)
    )
    assert monitor.went_back == [3.0]
    failed = monitor.checkpoints.open("failed")
    assert torch.equal(failed.batch["returns"], runner.alg.storage.returns)
    assert not torch.equal(failed.state["net"]["weight"], runner.net.weight)
    assert runner.alg.learning_rate == runner.alg.optimizer.param_groups[0]["lr"]
    assert monitor.faults == []


def test_a_roll_back_that_cannot_be_had_ends_the_training(tmp_path):
    monitor = Answering(Action.ROLL_BACK, at=0, checkpoints=Checkpoints(tmp_path / "store"))
    runner = Runner(tmp_path / "log", modern=True)
    watch_runner(runner, monitor)
    with pytest.raises(TrainingStopped):
        runner.learn(5)
    assert runner.iteration == 0
    assert any("cannot be rolled back" in fault for fault in monitor.faults)


def test_a_stop_of_an_update_that_is_over_is_said_to_be_too_late(tmp_path):
    monitor, runner = Answering(Action.STOP_UPDATE, at=1), Runner(tmp_path, modern=True)
    watch_runner(runner, monitor)
    runner.learn(3)
    assert runner.iteration == 3
    assert monitor.faults == ["rsl_rl logs an update when it is over, so that stop_update leaves nothing out"]
