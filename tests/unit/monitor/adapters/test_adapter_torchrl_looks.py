"""Real short trainings with TorchRL: who plays, draws, ends, settings and weights that are not as they should be."""

from __future__ import annotations

import math
import warnings
from copy import deepcopy

import pytest
import torch

from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters import torchrl_worlds as worlds
from tests.unit.monitor.adapters.sb3_worlds import Line

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensordict import TensorDict
    from torchrl.data import RandomSampler
    from torchrl.envs import CatFrames, ExplorationType, RewardScaling, VecNormV2, set_exploration_type
    from torchrl.trainers.trainers import RewardNormalizer, UpdateWeights

    from firstbreak.monitor.adapters.torchrl import LossWatch, MonitorHook

BATCHES, BROKEN = 26, 18
"""Of 32 frames; a rule about ends wants 16 rows before."""
PLAYED, DRAWN, UNRESET, CUT, ANSWERS = (
    "policy/player_gap_nats", "replay/drawn_unlike_frac", "env/unreset_frac", "episode/limit_frac",
    "policy/answers_moved_frac",
)  # fmt: skip
OURS = {
    "played-by-another", "drawn-not-as-stored", "ends-not-reset", "time-limit-shortened", "critic-changed-outside",
    "weights-changed-outside", "loss-settings-changed", "critic-setting-moved", "answers-change-at-rest",
}  # fmt: skip


class Rows(Monitor):
    def __init__(self):
        super().__init__(None)
        self.rows_seen = []

    def _log(self, metrics, step, clock):
        self.rows_seen.append((step, dict(metrics)))
        return super()._log(metrics, step, clock)

    def values(self, name):
        return [(step, row[name]) for step, row in self.rows_seen if name in row]

    @property
    def named(self):
        return {alarm.finding.name for alarm in self.alarms} & OURS


class Planting(MonitorHook):
    """Guards; after batch `BROKEN` it makes a mistake, and at first whatever the user's own script does."""

    def __init__(self, monitor, fault=None, own=None):
        super().__init__(monitor)
        self.fault, self.own, self.batches = fault, own, 0

    def register(self, trainer, name="monitor"):
        if self.own is not None:
            self.own(trainer)
        super().register(trainer, name)
        trainer.register_op("post_steps", self._count)

    def _count(self):
        self.batches += 1
        if self.fault is not None and self.batches == BROKEN:
            self.fault(self._trainer)


def train(make, fault=None, own=None, batches=BATCHES, **more):
    monitor = Rows()
    make(frames=32 * batches, hook=Planting(monitor, fault, own), **more)
    monitor.close()
    assert monitor.faults == []
    return monitor


def stale(trainer):
    """A copy plays from here on, and nobody brings it up to date."""
    trainer.collector._wrapped_policy = deepcopy(trainer.collector.policy)


def scaled(trainer):
    policy = deepcopy(trainer.collector.policy)
    with torch.no_grad():
        for weight in policy.parameters():
            weight.mul_(3)
    trainer.collector._wrapped_policy = policy


def brought_up_to_date(every):
    """The collector's own copy gets the trained weights every so many batches."""

    def own(trainer):
        trained = trainer.loss_module.actor_network_params
        hook = UpdateWeights(trainer.collector, every, policy_weights_getter=trained.data.clone)
        hook.register(trainer)
        trainer.updates = hook

    return own


def no_more(trainer):
    own = TensorDict.from_module(trainer.collector.policy)
    trainer.updates.policy_weights_getter = own.data.clone


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize("fault", [stale, scaled])
def test_another_policy_that_plays_is_named(make, fault):
    monitor = train(make, fault)
    assert max(gap for step, gap in monitor.values(PLAYED) if step <= 32 * BROKEN) < 1e-4
    assert min(gap for step, gap in monitor.values(PLAYED) if step > 32 * (BROKEN + 2)) > 0.02
    assert "played-by-another" in monitor.named


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize("every", [1, 3])
def test_a_copy_that_lags_by_design_is_looked_at_when_it_is_up_to_date(make, every):
    monitor = train(make, own=brought_up_to_date(every), played=deepcopy)
    gaps = [gap for _, gap in monitor.values(PLAYED)]
    assert len(gaps) >= 4
    assert max(gaps) < 1e-4
    assert "played-by-another" not in monitor.named


def test_a_copy_that_is_not_brought_up_to_date_any_more_is_named():
    monitor = train(worlds.ppo, no_more, own=brought_up_to_date(1), played=deepcopy)
    assert "played-by-another" in monitor.named


def test_of_a_copy_that_nobody_vouches_for_nothing_is_said():
    assert train(worlds.ppo, played=deepcopy).values(PLAYED) == []


def draws_moved(trainer):
    """Rewards and ends are those of the row before in the draw."""
    memory = next(one for one in trainer._process_optim_batch_ops)[0].__wrapped__.__self__
    usual = memory.replay_buffer.sample

    def sample(*args, **more):
        rows = usual(*args, **more)
        rows["next", "reward"] = rows["next", "reward"].roll(1, 0)
        return rows

    memory.replay_buffer.sample = sample


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
def test_draws_that_are_not_what_is_stored_are_named(make):
    monitor = train(make, draws_moved)
    before = [share for step, share in monitor.values(DRAWN) if step <= 32 * BROKEN]
    after = [share for step, share in monitor.values(DRAWN) if step > 32 * BROKEN]
    assert set(before) == {0.0}
    assert min(after) > 0.5
    assert "drawn-not-as-stored" in monitor.named


class Newest(RandomSampler):
    """Draws the newest rows more often, as those by priority do; TorchRL's want an extension that is not everywhere."""

    def sample(self, storage, batch_size):
        ages = (torch.rand(batch_size) ** 3 * len(storage)).long()
        return len(storage) - 1 - ages, {}


def normalised(trainer):
    RewardNormalizer().register(trainer)


@pytest.mark.parametrize(
    ("own", "buffer", "shares"),
    [
        (None, lambda: {"sampler": Newest()}, {0.0}),
        (None, lambda: {"transform": RewardScaling(1.0, 0.1, in_keys=[("next", "reward")])}, {1.0}),
        (None, lambda: {"prefetch": 2}, set()),
        (normalised, dict, None),
    ],
    ids=["the newest more often", "rewards scaled", "drawn ahead", "normalised"],
)
def test_other_ways_to_draw_are_no_mistake(own, buffer, shares):
    monitor = train(worlds.sac, own=own, buffer=buffer())
    found = {share for _, share in monitor.values(DRAWN)}
    assert shares is None or found == shares
    assert "drawn-not-as-stored" not in monitor.named


def cut_after(steps, monkeypatch):
    def fault(trainer):
        usual = Line.step

        def step(self, action):
            obs, reward, ended, _, info = usual(self, action)
            return obs, reward, ended, self.t >= steps, info

        monkeypatch.setattr(Line, "step", step)

    return fault


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize("copies", [1, 2])
def test_a_limit_that_becomes_shorter_is_named(make, copies, monkeypatch):
    monitor = train(make, cut_after(5, monkeypatch), copies=copies)
    assert {share for step, share in monitor.values(CUT) if step <= 32 * BROKEN} == {1.0}
    assert min(share for _, share in monitor.values(CUT)) == pytest.approx(5 / 9)
    assert "time-limit-shortened" in monitor.named


def test_a_collector_that_ends_episodes_itself_says_nothing_of_the_limit():
    def own(trainer):
        trainer.collector.set_truncated = True

    assert train(worlds.ppo, own=own, batches=6).values(CUT) == []


def test_a_limit_that_becomes_longer_is_none_that_becomes_shorter(monkeypatch):
    monitor = train(worlds.ppo, cut_after(14, monkeypatch))
    assert "time-limit-shortened" not in monitor.named


def not_reset(monkeypatch):
    def fault(trainer):
        usual = Line.reset

        def reset(self, *, seed=None, options=None):
            return (self._obs(), {}) if hasattr(self, "t") else usual(self, seed=seed, options=options)

        monkeypatch.setattr(Line, "reset", reset)

    return fault


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
def test_ends_that_are_not_reset_are_named(make, monkeypatch):
    monitor = train(make, not_reset(monkeypatch))
    assert {share for step, share in monitor.values(UNRESET) if step <= 32 * BROKEN} == {0.0}
    assert monitor.values(UNRESET)[-1][1] == 1.0
    assert "ends-not-reset" in monitor.named


def betas(trainer):
    trainer.optimizer.param_groups[0]["betas"] = (0.999, 0.9)


def decays(trainer):
    trainer.optimizer.param_groups[0]["weight_decay"] = 0.1


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize("fault", [betas, decays])
def test_settings_of_the_optimiser_that_move_are_named(make, fault):
    monitor = train(make, fault)
    assert "loss-settings-changed" in monitor.named


def one_cycle(trainer):
    schedule = torch.optim.lr_scheduler.OneCycleLR(trainer.optimizer, 0.01, total_steps=1000)
    trainer.register_op("post_optim", schedule.step)


@pytest.mark.parametrize("own", [None, one_cycle], ids=["left alone", "one cycle"])
@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
def test_a_sound_training_is_told_nothing(make, own):
    monitor = train(make, own=own)
    assert monitor.named == set()
    for name in (PLAYED, DRAWN, UNRESET, CUT, ANSWERS):
        assert monitor.values(name), name
    assert {moved for _, moved in monitor.values(ANSWERS)} == {0.0}
    assert {share for _, share in monitor.values(UNRESET)} == {0.0}
    assert all(math.isfinite(gap) for _, gap in monitor.values(PLAYED))


@pytest.mark.parametrize(
    "more",
    [
        lambda: {"transforms": [VecNormV2(in_keys=["observation"])]},
        lambda: {"transforms": [CatFrames(3, dim=-1, in_keys=["observation"])], "width": 6},
    ],
    ids=["a normaliser that moves", "stacked frames"],
)
def test_what_lies_around_the_environment_from_the_start_is_no_mistake(more):
    monitor = train(worlds.ppo, **more())
    assert monitor.named == set()
    assert {share for _, share in monitor.values(UNRESET)} == {0.0}


def head(trainer):
    """The last layer of the policy."""
    return [one for one in trainer.collector.policy.modules() if isinstance(one, torch.nn.Linear)][-1]


def scaled_outputs(trainer):
    head(trainer).register_forward_hook(lambda _, inputs, found: 3 * found)


def turned_while_it_plays(trainer):
    usual, last = trainer.collector.rollout, head(trainer)

    def rollout(*args, **more):
        handle = last.register_forward_hook(lambda _, inputs, found: -found)
        try:
            return usual(*args, **more)
        finally:
            handle.remove()

    trainer.collector.rollout = rollout


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize("fault", [scaled_outputs, turned_while_it_plays])
def test_a_policy_that_answers_otherwise_with_the_same_weights_is_named(make, fault):
    monitor = train(make, fault, batches=2 * BATCHES)
    assert {moved for step, moved in monitor.values(ANSWERS) if step <= 32 * BROKEN} == {0.0}
    assert "answers-change-at-rest" in monitor.named
    told = [alarm.at for alarm in monitor.alarms if alarm.finding.name == "answers-change-at-rest"]
    assert 32 * BROKEN < told[0] <= 32 * (BROKEN + 3)


def test_a_policy_that_is_compiled_has_no_hook_and_is_asked_when_a_batch_is_there():
    def own(trainer):
        trainer.collector.compiled_policy = True
        hooks.append(trainer.collector.policy._forward_hooks)

    hooks = []
    monitor = train(worlds.ppo, scaled_outputs, own=own, batches=2 * BATCHES)
    assert [len(some) for some in hooks] == [0]
    assert {moved for step, moved in monitor.values(ANSWERS) if step <= 32 * BROKEN} == {0.0}
    assert "answers-change-at-rest" in monitor.named


def test_a_policy_that_is_copied_takes_no_hook_along():
    def own(trainer):
        copies.append(trainer.collector.policy)

    copies = []
    train(worlds.ppo, lambda trainer: copies.append(deepcopy(trainer.collector.policy)), own=own)
    (hook,) = copies[1]._forward_hooks.values()
    assert hook._told is None


def critic_moved(trainer):
    loss = trainer.loss_module
    critic = loss.qvalue_network_params if hasattr(loss, "qvalue_network_params") else loss.critic_network_params
    with torch.no_grad():
        for weight in critic.values(True, True):
            weight.data.mul_(0.5)


def policy_moved(trainer):
    with torch.no_grad():
        for weight in trainer.loss_module.actor_network_params.values(True, True):
            weight.data.mul_(0.5)


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize(
    ("fault", "name"), [(critic_moved, "critic-changed-outside"), (policy_moved, "weights-changed-outside")]
)
def test_weights_that_somebody_else_wrote_are_named_by_their_owner(make, fault, name):
    monitor = train(make, fault)
    assert monitor.named == {name}
    told = [alarm.at for alarm in monitor.alarms if alarm.finding.name == name]
    assert told == [32 * (BROKEN + 1)]


@pytest.mark.parametrize(("push", "off"), [(0.0, 0.0), (0.2, 0.1)], ids=["as drawn", "another policy"])
def test_actions_at_the_bounds_are_no_ratio_that_is_off(push, off):
    """TorchRL scores a draw by the number before squashing; from an action at its bound that is not known any more."""
    torch.manual_seed(0)

    class Spread(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.loc = torch.nn.Parameter(torch.tensor([0.0, 6.0]).repeat(32, 1).T.reshape(-1, 1))

        def forward(self, obs):
            return self.loc, torch.full_like(self.loc, 0.4)

    actor = worlds.ProbabilisticActor(
        worlds.TensorDictModule(Spread(), ["observation"], ["loc", "scale"]), in_keys=["loc", "scale"],
        distribution_class=worlds.TanhNormal, return_log_prob=True,
    )  # fmt: skip
    critic = worlds.ValueOperator(worlds.network(1, 1), in_keys=["observation"])
    with set_exploration_type(ExplorationType.RANDOM):
        rows = actor(TensorDict({"observation": torch.zeros(64, 1)}, [64])).detach()
    with torch.no_grad():
        actor.module[0].module.loc += push
        exact = actor.get_dist(rows).log_prob(rows["action"]) - rows["action_log_prob"]
    assert float(exact[32:].abs().max()) > 1e-2  # rounding alone
    rows.update({"advantage": torch.randn(64, 1), "value_target": torch.randn(64, 1)})
    loss = worlds.ClipPPOLoss(actor, critic)
    watch = LossWatch(loss, {"": torch.optim.Adam(loss.parameters())})
    loss(rows)
    assert abs(watch.row()["policy/ratio_first_minibatch"] - 1) == pytest.approx(off, abs=1e-4 if off == 0 else 0.09)
