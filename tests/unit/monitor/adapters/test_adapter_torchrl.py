import copy
import warnings

import numpy as np
import pytest
import torch

from firstbreak.monitor.checkpoints.store import Checkpoints
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action
from tests.unit.monitor.adapters import torchrl_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering, Broken

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from firstbreak.monitor.adapters.torchrl import LossWatch, MonitorHook


class Witness(MonitorHook):
    """Keeps, by plain means, what the rows should say."""

    def __init__(self, monitor, **more):
        super().__init__(monitor, **more)
        self.batches, self.norms, self.outputs = [], [], []

    def register(self, trainer, name="monitor"):
        super().register(trainer, name)
        trainer.register_op("post_epoch_log", self._keep)
        trainer.loss_module.register_forward_hook(lambda m, a, out: self.outputs.append(out.detach().clone()))

    def _keep(self, batch):
        self.batches.append(batch.clone())


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
def test_training_is_the_same_bit_for_bit(make):
    monitor = Answering()
    watched = make(hook=MonitorHook(monitor))
    after = float(torch.rand(()))
    plain = make()
    assert worlds.same(watched, plain)
    assert after == float(torch.rand(()))
    assert monitor.faults == []
    assert list(monitor.merged()) == [32.0, 64.0, 96.0]


def test_rows_of_ppo(monkeypatch):
    norms, clip = [], torch.nn.utils.clip_grad_norm_
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *a, **k: norms.append(clip(*a, **k)) or norms[-1])
    monitor = Answering()
    hook = Witness(monitor)
    trainer = worlds.ppo(hook=hook)
    assert monitor.told["algorithm"] == "PPO"
    assert monitor.told["clip_range"] == pytest.approx(0.2)
    for place, row in enumerate(monitor.merged().values()):
        batch = hook.batches[2 * place]  # two epochs an update; advantages of the first
        a, g = batch["advantage"].double().numpy(), batch["value_target"].double().numpy()
        assert row["advantage/mean"] == pytest.approx(a.mean(), abs=1e-5)
        assert row["advantage/std"] == pytest.approx(a.std(), rel=1e-4)
        explained = 1 - np.var(g - batch["state_value"].double().numpy()) / np.var(g)
        assert row["critic/explained_variance"] == pytest.approx(explained, abs=1e-3)
        outputs = hook.outputs[4 * place : 4 * place + 4]
        assert row["policy/loss"] == pytest.approx(np.mean([float(o["loss_objective"]) for o in outputs]), abs=1e-5)
        assert row["critic/loss"] == pytest.approx(np.mean([float(o["loss_critic"]) for o in outputs]), rel=1e-4)
        assert row["policy/entropy"] == pytest.approx(np.mean([float(o["entropy"]) for o in outputs]), rel=1e-4)
        assert row["optim/grad_norm"] == pytest.approx(np.mean([float(n) for n in norms[4 * place : 4 * place + 4]]))
        assert row["policy/ratio_first_minibatch"] == pytest.approx(1.0, abs=1e-5)
        assert row["policy/kl_old"] > 0
        assert row["policy/advantage_follow"] > 0  # measured on rows that the update was made on
        assert row["reward/step_mean"] == pytest.approx(float(batch["next", "reward"].mean()), rel=1e-5)
        assert row["optim/lr"] == 1e-2
    assert trainer.collected_frames == 96


def test_rows_of_sac():
    monitor = Answering()
    hook = Witness(monitor)
    worlds.sac(hook=hook)
    rows = list(monitor.merged().values())
    assert monitor.told["algorithm"] == "SAC"
    outputs = hook.outputs[-4:]
    for key, name in (("loss_qvalue", "critic/loss"), ("loss_actor", "policy/loss"), ("alpha", "sac/alpha")):
        assert rows[-1][name] == pytest.approx(np.mean([float(o[key]) for o in outputs]), rel=1e-4)
    assert {"critic/q_mean", "critic/q2_mean", "critic/twin_gap", "optim/grad_norm"} <= rows[-1].keys()
    assert rows[-1]["critic/twin_gap"] > 0
    assert all(np.isfinite(v) for v in rows[-1].values())


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
def test_stop_training(make):
    trainer = make(frames=320, hook=MonitorHook(Answering(Action.STOP_TRAINING, at=0)))
    assert trainer.collected_frames == 32


def test_stop_update_before_it_leaves_the_weights_alone_and_training_goes_on():
    hook = MonitorHook(Answering(Action.STOP_UPDATE, at=0, when=lambda row: "reward/step_mean" in row))
    assert worlds.same(worlds.ppo(frames=64, hook=hook), worlds.ppo(frames=32, epochs=0))


def test_stop_update_after_the_first_epoch_leaves_out_the_rest():
    hook = MonitorHook(Answering(Action.STOP_UPDATE, at=0, when=lambda row: "advantage/mean" in row))
    assert worlds.same(worlds.ppo(frames=32, epochs=3, hook=hook), worlds.ppo(frames=32, epochs=1))


def test_a_broken_monitor_stops_nothing():
    assert worlds.same(worlds.ppo(hook=MonitorHook(Broken())), worlds.ppo())


def test_roll_back(tmp_path):
    monitor = Answering(Action.ROLL_BACK, at=0, when=lambda row: len(monitor.merged()) == 3 and "policy/loss" in row)
    monitor.checkpoints = Checkpoints(tmp_path, strict=True)
    trainer = worlds.ppo(hook=MonitorHook(monitor, checkpoint_rows=1))
    assert monitor.faults == []
    assert monitor.went_back == [64.0]
    state = monitor.checkpoints.load()["loss_module"]
    assert all(torch.equal(v, state[k]) for k, v in trainer.loss_module.state_dict().items())
    failed = monitor.checkpoints.open("failed")
    assert failed.batch["next"]["reward"].numel() == 32  # what the update that broke was made of
    assert not all(torch.equal(v, failed.state["loss_module"][k]) for k, v in trainer.loss_module.state_dict().items())


def test_a_bad_update_is_left_out_before_it_reaches_the_weights():
    monitor = Monitor(None, act={"numerics": "stop_training", "reward_signal": "stop_training"})
    kept = worlds.ppo(frames=640, nan_from=450, hook=MonitorHook(monitor))
    assert all(p.isfinite().all() for p in kept.loss_module.parameters())
    assert kept.collected_frames < 640
    assert monitor.faults == []


class LastMinibatch:
    """Keeps a minibatch, to go on with by hand."""

    def register(self, trainer):
        trainer.loss_module.register_forward_pre_hook(lambda module, args: setattr(self, "rows", args[0].clone()))


def test_a_loop_of_ones_own():
    kept = LastMinibatch()
    trainer = worlds.ppo(frames=32, hook=kept)
    loss, optimiser, rows = trainer.loss_module, trainer.optimizer, copy.deepcopy(kept.rows)
    watch, seen = LossWatch(loss, {"": optimiser}), []
    for _ in range(3):
        out = loss(rows)
        seen.append(float(out["loss_objective"].detach()))
        optimiser.zero_grad()
        sum(v for k, v in out.items() if k.startswith("loss")).backward()
        optimiser.step()
    row = watch.row()
    assert row["policy/loss"] == pytest.approx(np.mean(seen), abs=1e-6)
    assert row["optim/weight_delta"] > 0
    watch.remove()
    loss(rows)
    assert watch.row() == {}


def test_a_roll_back_that_cannot_be_had_ends_the_training(tmp_path):
    monitor = Answering(Action.ROLL_BACK, at=0)
    monitor.checkpoints = Checkpoints(tmp_path)
    trainer = worlds.ppo(hook=MonitorHook(monitor))
    assert trainer.collected_frames == 32
    assert "There is none." in monitor.faults[0]


def test_networks_that_cannot_be_asked_about_single_rows_stop_nothing(monkeypatch):
    def recurrent(self, rows):
        raise ValueError("no time axis")

    monkeypatch.setattr(LossWatch, "_valued", recurrent)
    monitor = Answering()
    watched = worlds.ppo(hook=MonitorHook(monitor))
    assert worlds.same(watched, worlds.ppo())
    assert monitor.faults == ["LossWatch: ValueError: no time axis"]
