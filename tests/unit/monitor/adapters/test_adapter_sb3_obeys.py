import copy

import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

from firstbreak import load
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.checkpoints.store import Checkpoints
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering


def before(row):
    return "advantage/mean" in row


def on_the_way(row):
    return "policy/kl_old" in row and "optim/n_updates" not in row


def weights(model):
    return copy.deepcopy(model.policy.state_dict())


def unchanged(model, kept):
    return all(torch.equal(v, kept[k]) for k, v in model.policy.state_dict().items())


def test_stop_training_before_the_first_update_leaves_the_weights_alone():
    model = worlds.ppo()
    start = weights(model)
    model.learn(10_000, callback=MonitorCallback(Answering(Action.STOP_TRAINING, at=0), every_steps=1))
    assert unchanged(model, start)
    assert model.num_timesteps == 33  # the rollout, and the one step at which Stable-Baselines3 asks


@pytest.mark.parametrize("make", [worlds.a2c, worlds.dqn, worlds.sac, worlds.td3])
def test_stop_training_ends_every_algorithm(make):
    model = make()
    model.learn(10_000, callback=MonitorCallback(Answering(Action.STOP_TRAINING, at=0), every_steps=5))
    assert model.num_timesteps < 40


def test_stop_update_leaves_out_a_whole_update_and_only_that():
    class Weights(BaseCallback):
        def __init__(self):
            super().__init__()
            self.seen = []

        def _on_step(self):
            return True

        def _on_rollout_end(self):
            self.seen.append(weights(self.model))

    model, keeper, count = worlds.ppo(), Weights(), []
    monitor = Answering(
        Action.STOP_UPDATE, at=0, when=lambda row: before(row) and count.append(1) is None and len(count) == 2
    )
    model.learn(128, callback=[keeper, MonitorCallback(monitor, every_steps=1)])
    same = [all(torch.equal(a[k], b[k]) for k in a) for a, b in zip(keeper.seen, keeper.seen[1:], strict=False)]
    assert same == [False, True, False]


def test_stop_update_within_an_update_leaves_out_the_epochs_that_remain():
    monitor = Answering(Action.STOP_UPDATE, at=0, when=on_the_way)
    stopped = worlds.ppo(n_epochs=4)
    stopped.learn(32, callback=MonitorCallback(monitor, every_steps=1))
    one_epoch = worlds.ppo(n_epochs=1)
    one_epoch.learn(32)
    assert worlds.same(stopped, one_epoch)
    assert sum(on_the_way(row) for _, row in monitor.given) == 1
    last = list(monitor.merged().values())[-1]
    assert last["policy/kl_old"] == pytest.approx(next(r for _, r in monitor.given if on_the_way(r))["policy/kl_old"])


def test_a_bad_update_is_left_out_before_it_reaches_the_weights():
    monitor = Monitor(None, act={"numerics": "stop_training"})
    kept = worlds.ppo(worlds.Line(nan_from=400))
    kept.learn(2000, callback=MonitorCallback(monitor, every_steps=1))
    assert all(p.isfinite().all() for p in kept.policy.parameters())
    assert kept.num_timesteps == 417  # the rollout with the fault ends at 416
    assert "nonfinite-metric" in [alarm.finding.name for alarm in monitor.alarms]
    lost = worlds.ppo(worlds.Line(nan_from=400))
    with pytest.raises((ValueError, RuntimeError), match="nan"):  # which one depends on a global switch of torch
        lost.learn(2000, callback=MonitorCallback(Monitor(None), every_steps=1))


def test_a_gradient_that_is_not_finite_is_kept_out_of_the_weights():
    monitor = Answering(Action.STOP_UPDATE, at=0, when=lambda row: row.keys() == {"optim/grad_norm"})
    model = worlds.dqn(worlds.Line(nan_from=30))
    model.learn(60, callback=MonitorCallback(monitor, every_steps=1000))
    assert all(p.isfinite().all() for p in model.policy.parameters())
    assert any(row["optim/grad_norm"] != row["optim/grad_norm"] for _, row in monitor.given)
    lost = worlds.dqn(worlds.Line(nan_from=30))
    lost.learn(60)
    assert not all(p.isfinite().all() for p in lost.policy.parameters())


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
def test_roll_back_puts_weights_and_optimisers_back_in_place(tmp_path, make):
    model = make()
    objects = [id(p) for p in model.policy.parameters()]
    monitor = Answering(
        Action.ROLL_BACK, at=0, when=lambda row: len(monitor.merged()) == 3 and "optim/n_updates" in row
    )
    monitor.checkpoints = Checkpoints(tmp_path, strict=True)
    saved = {}

    class Keep(BaseCallback):
        def _on_step(self):
            for one in monitor.checkpoints.all:
                saved.setdefault(one.step, None)
            return not monitor.went_back

    model.learn(200, callback=[MonitorCallback(monitor, every_steps=20, checkpoint_rows=1), Keep()])
    assert monitor.faults == []
    assert len(monitor.went_back) == 1
    step = monitor.went_back[0]
    state = monitor.checkpoints.load()
    assert step in saved
    assert unchanged(model, state["policy"])
    assert [id(p) for p in model.policy.parameters()] == objects


@pytest.mark.parametrize("rows", [1, 6], ids=["many checkpoints", "one checkpoint"])
def test_a_cause_that_lasts_ends_the_training_with_the_reason(tmp_path, rows):
    store = Checkpoints(tmp_path / "store", keep=9)
    monitor = Monitor(tmp_path, act={"numerics": "roll_back"}, checkpoints=store)
    model = worlds.ppo(worlds.Line(nan_from=1220))
    with monitor:
        model.learn(4000, callback=MonitorCallback(monitor, every_steps=1, checkpoint_rows=rows))
    assert 1249 < model.num_timesteps < 1400
    assert all(p.isfinite().all() for p in model.policy.parameters())
    (fault,) = monitor.faults
    assert fault.startswith("training ends, as it cannot be rolled back: ")
    assert [entry["broke_at"] is None for entry in store.roll_backs] == [False] * 3
    (ended,) = [event for event in load(tmp_path).events if event.name == "stop_training"]
    assert ended.text in fault


def test_roll_back_without_a_store_goes_on_and_says_so():
    monitor = Answering(Action.ROLL_BACK, at=0)
    model = worlds.ppo()
    model.learn(64, callback=MonitorCallback(monitor, every_steps=1))
    assert model.num_timesteps == 64
    assert "Checkpoints" in monitor.faults[0]
