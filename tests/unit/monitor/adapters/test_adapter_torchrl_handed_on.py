"""What a TorchRL trainer is fed is what the environment gave, and a mistake in batch or buffer is named."""

from __future__ import annotations

import warnings
from itertools import cycle

import gymnasium as gym
import pytest
import torch

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from tests.unit.monitor.adapters import torchrl_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torchrl.envs import RewardScaling, VecNormV2
    from torchrl.objectives.value import GAE

    from firstbreak.monitor.adapters.parts.torchrl.estimates import residual
    from firstbreak.monitor.adapters.torchrl import MonitorHook

BATCHES, BROKEN = 22, 12
ONES = ("data/obs_fit", "data/reward_fit", "data/action_fit", "data/end_kept_frac")


def train(make, monitor, batches=BATCHES, mistake=None, **more):
    """`batches` of 32 frames; from number `BROKEN` on a hook of the user's makes a mistake."""
    count = []

    def on_batch(batch):
        count.append(1)
        return batch if mistake is None or len(count) <= BROKEN else mistake(batch)

    hook = MonitorHook(monitor)
    make(frames=32 * batches, hook=hook, on_batch=on_batch, world=World(monitor), **more)
    assert not monitor.faults
    return monitor


def altered(key, change):
    def mistake(batch):
        batch[key] = change(batch[key])
        return batch

    return mistake


MISTAKES = {
    "rewards a tenth": (altered(("next", "reward"), lambda r: 0.1 * r), "rewards-resized-on-the-way"),
    "rewards a step late": (altered(("next", "reward"), lambda r: r.roll(1, -2)), "rewards-not-as-paid"),
    "ends dropped": (altered(("next", "done"), torch.zeros_like), "ends-not-stored"),
    "entries swapped": (altered("observation", lambda o: o.flip(-1)), "observations-not-as-given"),
    "actions a step late": (altered("action", lambda a: a.roll(1, -2)), "actions-not-as-stored"),
}


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize("copies", [1, 2])
def test_a_sound_trainer_is_fed_what_was_exchanged(make, copies) -> None:
    monitor = train(make, Answering(), batches=6, copies=copies)
    rows = list(monitor.merged().values())
    for name in ONES:
        found = [row[name] for row in rows if name in row]
        assert len(found) >= 5 - (copies > 1)
        assert found == pytest.approx([1] * len(found), abs=1e-5), name


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
def test_training_beside_a_world_is_the_same_bit_for_bit(make) -> None:
    monitor = Answering()
    watched = make(hook=MonitorHook(monitor), world=World(monitor))
    after = float(torch.rand(()))
    assert worlds.same(watched, make())
    assert after == float(torch.rand(()))


@pytest.mark.parametrize("make", [worlds.ppo, worlds.sac])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_on_the_way_is_named(make, mistake) -> None:
    monitor = train(make, Monitor(), mistake=mistake[0])
    found = {alarm.finding.name: alarm.at for alarm in monitor.alarms}
    assert mistake[1] in found
    assert found[mistake[1]] > 32 * BROKEN
    others = {name for _, name in MISTAKES.values()} - {mistake[1]}
    assert not others & set(found)


@pytest.mark.parametrize(
    "transforms",
    [lambda: [RewardScaling(1.0, 0.1)], lambda: [VecNormV2(in_keys=["observation"])]],
    ids=["rewards scaled", "normaliser"],
)
def test_transforms_from_the_start_are_no_mistake(transforms) -> None:
    monitor = train(worlds.ppo, Monitor(), transforms=transforms())
    assert not [a.finding.name for a in monitor.alarms if a.finding.metric.startswith("data/")]
    assert monitor.latest["data/reward_fit"] == pytest.approx(1, abs=1e-5)


def test_the_estimator_s_sum_and_the_critic_s_values_are_checked() -> None:
    monitor = train(worlds.ppo, Answering(), batches=3)
    rows = list(monitor.merged().values())
    assert all(row["advantage/gae_residual"] < 1e-5 for row in rows)
    assert all(row["critic/value_residual"] < 1e-5 for row in rows)


def test_other_advantages_than_the_estimator_makes_have_a_residual() -> None:
    batches = []
    worlds.ppo(frames=32, on_batch=lambda batch: batches.append(batch) or batch)
    batch, made = batches[0], GAE(gamma=0.99, lmbda=0.95, value_network=None)
    assert float(residual(batch, made)["advantage/gae_residual"]) < 1e-5
    batch["advantage"] = batch["advantage"].flip(0)
    assert float(residual(batch, made)["advantage/gae_residual"]) > 0.1
    assert residual(batch, None) == {}
    assert residual(batch, GAE(gamma=0.99, lmbda=0.95, value_network=None, average_gae=True)) == {}


@pytest.mark.parametrize("broken", [False, True], ids=["sound", "one mixed up"])
def test_copies_with_a_normaliser_each_are_held_against_maps_of_their_own(broken) -> None:
    """A sound trainer's worst copy follows; one whose newest steps are mixed up does not."""

    def mixed(batch):
        batch["observation"][1] = batch["observation"][1].roll(3, 0)
        return batch

    monitor, scales = Answering(), cycle((1.0, 7.0))

    def around(line):
        scale = next(scales)
        box = line.observation_space
        return gym.wrappers.TransformObservation(line, lambda seen: scale * seen - scale, box)

    worlds.ppo(
        frames=6 * 64, per_batch=64, hook=MonitorHook(monitor), on_batch=mixed if broken else None,
        world=World(monitor), copies=2, around=around,
    )  # fmt: skip
    assert not monitor.faults
    rows = list(monitor.merged().values())
    worst = [row["data/obs_copy_fit"] for row in rows if "data/obs_copy_fit" in row]
    assert len(worst) >= 4
    if broken:
        assert max(worst) < 0.8
    else:
        assert min(worst) > 0.999
        assert max(row["data/obs_fit"] for row in rows if "data/obs_fit" in row) < 0.95, "no one map explains both"
        assert min(row["data/reward_copy_fit"] for row in rows if "data/reward_copy_fit" in row) > 0.999
