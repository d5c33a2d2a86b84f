"""Who plays is held against who is trained while the rollout goes on."""

from __future__ import annotations

import math
from copy import deepcopy

import gymnasium
import numpy as np
import pytest
import torch

from firstbreak.monitor.adapters.parts.gaps import AT_ONCE, Gaps
from firstbreak.monitor.adapters.parts.player import EVERY, METRIC
from firstbreak.monitor.adapters.parts.sb3.played import Played
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.vocabulary import metric
from tests.unit.monitor.adapters.sb3_worlds import a2c, ppo

torch.set_num_threads(1)


class Watching(Monitor):
    """Keeps where each gap was told."""

    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        if METRIC in metrics:
            self.seen.append((step, metrics[METRIC]))
        return super()._log(metrics, step, clock)


def scaled(network):
    """A copy that is another policy."""
    copy = deepcopy(network)
    with torch.no_grad():
        for weight in copy.parameters():
            weight.mul_(30)
    return copy


def reference(kind, change, updates=15, after=12):
    """Train; from an update on, `change` of the network plays."""
    if kind is PPO:
        config = PPOConfig(num_steps=128, update_epochs=1, num_envs=2, hidden_sizes=(8,))
    else:
        config = MMRKHSConfig(rollout_steps=128, epochs=1, num_envs=2, hidden_sizes=(8,))
    trainer = kind(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    monitor = Watching()
    log = log_to(monitor, trainer)
    usual = trainer.collect

    def collect():
        if change is None or trainer.env_steps < after * 256:
            return usual()
        learner, trainer.actor = trainer.actor, change(trainer.actor)
        try:
            return usual()
        finally:
            trainer.actor = learner

    trainer.collect = collect
    trainer.learn(updates * 256, log)
    monitor.close()
    assert monitor.faults == []
    return monitor


@pytest.mark.parametrize("kind", [PPO, MMRKHS])
def test_a_player_with_other_weights_is_named_while_it_plays(kind):
    monitor = reference(kind, scaled)
    began = 12 * 256
    named = [alarm for alarm in monitor.alarms if alarm.finding.name == "played-by-another"]
    assert [began < alarm.at <= began + 2 * EVERY for alarm in named] == [True]
    assert all(gap == 0 for step, gap in monitor.seen if step <= began)


@pytest.mark.parametrize("change", [None, deepcopy])
def test_the_network_itself_and_a_faithful_copy_are_no_gap(change):
    monitor = reference(PPO, change)
    assert monitor.seen
    assert all(gap == 0 for _, gap in monitor.seen)
    assert "played-by-another" not in {alarm.finding.name for alarm in monitor.alarms}


def sb3(make, begin=None, steps=1024):
    model = make()
    monitor = Watching()

    class Beginning(MonitorCallback):
        def _on_step(self):
            if begin is not None and self.num_timesteps == steps // 2:
                begin(self.model)
            return super()._on_step()

    model.learn(steps, callback=Beginning(monitor, every_steps=20))
    monitor.close()
    assert monitor.faults == []
    return monitor


@pytest.mark.parametrize("make", [ppo, a2c])
def test_a_rollout_scored_at_another_temperature_is_told_before_its_end(make):
    def begin(model):
        usual = model.policy.forward

        def forward(obs, deterministic=False):
            actions, values, log_prob = usual(obs, deterministic)
            return actions, values, 2 * log_prob

        model.policy.forward = forward

    healthy, broken = sb3(make), sb3(make, begin)
    assert healthy.seen
    assert max(gap for _, gap in healthy.seen) < 1e-4
    assert max(gap for step, gap in broken.seen if step <= 512) < 1e-4
    assert min(step for step, gap in broken.seen if gap > 0.1) <= 512 + 128
    assert "played-by-another" in {alarm.finding.name for alarm in broken.alarms}
    assert "played-by-another" not in {alarm.finding.name for alarm in healthy.alarms}


def test_weights_that_are_turned_round_for_a_rollout_and_back_are_told_as_it_begins():
    """No norm of a tensor changes, and before the update all is as it was."""
    model = ppo()
    monitor = Monitor(None)
    usual, began = model.collect_rollouts, []

    def collect_rollouts(*args, **kwargs):
        if model.num_timesteps < 512:
            return usual(*args, **kwargs)
        began.append(model.num_timesteps)
        weight = model.policy.mlp_extractor.policy_net[0].weight
        kept = weight.detach().clone()
        with torch.no_grad():
            weight.copy_(kept.flip(0))
        try:
            return usual(*args, **kwargs)
        finally:
            with torch.no_grad():
                weight.copy_(kept)

    model.collect_rollouts = collect_rollouts
    model.learn(1024, callback=MonitorCallback(monitor, every_steps=20))
    monitor.close()
    assert monitor.faults == []
    told = [alarm.at for alarm in monitor.alarms if alarm.finding.name == "weights-changed-outside"]
    assert told == [began[0]]


def test_gaps_are_told_at_once_from_the_first_on_and_rounding_waits_for_the_row():
    name = "policy/player_gap_nats"
    rounding = metric(name).zero
    gaps = Gaps(name)
    assert [gaps.add(gap) for gap in (0.0, rounding, 0.5, *[0.1] * AT_ONCE)] == [False] * 2 + [True] * AT_ONCE + [False]
    assert gaps.take() == {name: 0.5}
    assert gaps.add(float("nan"))


class Scored:
    """What `Played` asks of a model: scores one action; `off` is by how much who plays is another."""

    def __init__(self, off):
        self.num_timesteps, self.device, self.off, self.asked = 0, "cpu", off, []
        self.policy = self

    def evaluate_actions(self, obs, actions):
        self.asked.append(self.num_timesteps)
        return None, torch.zeros(1), None


@pytest.mark.parametrize("amiss", [1.0, math.nan])
def test_looks_at_a_rollout_grow_seldom_and_come_at_once_after_a_gap(amiss):
    model = Scored(lambda at: amiss if at >= 2200 else 0.0)
    played = Played(model)
    played._known = True
    told = []
    for at in range(0, 2600, 4):
        model.num_timesteps = at
        chosen = {"log_probs": torch.tensor([model.off(at)]), "actions": np.zeros(1), "obs_tensor": None}
        if played.look(chosen):
            told.append(at)
    first = [128 * look for look in range(8)]
    assert model.asked[:13] == [*first, 1152, 1408, 1664, 1920, 2176]
    assert model.asked[13:17] == [2432, 2464, 2496, 2528]
    assert told == [2432, 2464, 2496, 2528]  # no more of them until a row of the trainer
