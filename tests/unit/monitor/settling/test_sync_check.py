"""Planted sync faults between a real learner and a real sampler, each told from the others."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from torch import nn

from firstbreak.causes import all_causes
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.settling import SyncCheck, SyncResult, fingerprint
from firstbreak.monitor.settling.sync import _SETTLES, SyncVerdict
from firstbreak.registry import all_rules

torch.set_num_threads(1)


class Pair:
    """A learner that takes Adam steps, and a sampler that a sync copies it into."""

    def __init__(self, dtype: torch.dtype = torch.float32, lr: float = 1e-3) -> None:
        torch.manual_seed(0)
        self.learner = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 20))
        self.sampler = deepcopy(self.learner).to(dtype)
        self.optimiser = torch.optim.Adam(self.learner.parameters(), lr=lr)

    def update(self) -> None:
        loss = nn.functional.cross_entropy(self.learner(torch.arange(20)), torch.arange(20).roll(1))
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def sync(self, wanted: Callable[[str], bool] = lambda _: True) -> None:
        theirs = dict(self.sampler.named_parameters())
        with torch.no_grad():
            for name, weight in self.learner.named_parameters():
                if wanted(name):
                    theirs[name].copy_(weight)


def run(pair: Pair, sync: Callable[[int], None], updates: int = 4, check: SyncCheck | None = None) -> list[SyncResult]:
    check = check or SyncCheck()
    found = [check.after_sync(pair.learner, pair.sampler)]
    for update in range(updates):
        pair.update()
        sync(update)
        found.append(check.after_sync(pair.learner, pair.sampler))
    return found


def test_a_working_sync_is_in_step() -> None:
    pair = Pair()
    found = run(pair, lambda _: pair.sync())
    assert [r.verdict for r in found] == [SyncVerdict.IN_STEP] * 5
    assert found[-1].learner_moved
    assert found[-1].sampler_moved
    assert not found[-1].faulty
    assert found[-1].lag_checks == 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_cast_is_no_fault(dtype: torch.dtype) -> None:
    pair = Pair(dtype)
    assert {r.verdict for r in run(pair, lambda _: pair.sync())} == {SyncVerdict.IN_STEP}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_sync_that_never_happens_is_found_at_once(dtype: torch.dtype) -> None:
    pair = Pair(dtype)
    found = run(pair, lambda _: None)
    assert [r.verdict for r in found[1:]] == [SyncVerdict.NEVER_ARRIVED] * 4
    assert [r.lag_checks for r in found[1:]] == [1, 2, 3, 4]


def test_a_sync_that_fails_mid_run_is_found_at_that_sync() -> None:
    pair = Pair()
    found = run(pair, lambda update: None if update >= 2 else pair.sync())
    assert [bool(r.faulty) for r in found] == [False, False, False, True, True]


@pytest.mark.parametrize("first", [True, False], ids=["checked before the first update", "not checked before"])
def test_a_sync_every_third_update_is_no_fault_and_its_loss_is_one(first: bool) -> None:
    for broken in (False, True):
        pair, check = Pair(), SyncCheck(lag=2)
        if first:
            check.after_sync(pair.learner, pair.sampler)
        found: list[SyncResult] = []
        for update in range(1, 10):
            pair.update()
            if update % 3 == 0 and not (broken and update > 3):
                pair.sync()
            found.append(check.after_sync(pair.learner, pair.sampler))
        assert not any(r.faulty for r in found[:5])
        assert [r.faulty for r in found[5:]] == [broken] * 4
        assert {r.verdict for r in found[:2]} == {SyncVerdict.BEHIND if first else SyncVerdict.TOO_EARLY}


@pytest.mark.parametrize("lost", ["3.weight", "0.weight"])
def test_a_layer_that_does_not_arrive_is_named(lost: str) -> None:
    pair = Pair()
    found = run(pair, lambda _: pair.sync(lambda name: name != lost))
    assert found[1].verdict is SyncVerdict.PARTIAL
    assert found[1].differing == (lost,)
    assert found[1].metrics()["async/synced_fraction"] == pytest.approx(4 / 5)


def test_one_shard_that_does_not_arrive_is_partial() -> None:
    pair = Pair()

    def sync(_: int) -> None:
        before = pair.sampler[3].weight.detach().clone()
        pair.sync()
        with torch.no_grad():
            pair.sampler[3].weight[10:] = before[10:]

    assert run(pair, sync)[-1].verdict is SyncVerdict.PARTIAL


def test_a_stale_buffer_is_told_from_a_sync_that_never_came() -> None:
    pair = Pair()
    buffers = [deepcopy(pair.learner.state_dict())]

    def sync(_: int) -> None:
        pair.sampler.load_state_dict(buffers[-1])  # one behind: the buffer is filled after it is read
        buffers.append(deepcopy(pair.learner.state_dict()))

    found = run(pair, sync)
    assert found[1].verdict is SyncVerdict.NEVER_ARRIVED
    assert [r.verdict for r in found[2:]] == [SyncVerdict.STALE] * 3
    assert {r.lag_checks for r in found[2:]} == {1}
    pair = Pair()
    buffers = [deepcopy(pair.learner.state_dict())]
    assert not any(r.faulty for r in run(pair, sync, check=SyncCheck(lag=1)))


@pytest.mark.parametrize(
    "corrupt",
    [
        lambda w: w.mul_(1.02),
        lambda w: w.copy_(w.flip(0)),
        lambda w: w.add_(torch.randn_like(w) * 1e-2),
    ],
    ids=["scaled", "rows in another order", "noise"],
)
def test_weights_that_the_learner_never_had_are_different(corrupt: Callable[[torch.Tensor], object]) -> None:
    pair = Pair()

    def sync(_: int) -> None:
        pair.sync()
        with torch.no_grad():
            for weight in pair.sampler.parameters():
                corrupt(weight)

    found = run(pair, sync)
    assert {r.verdict for r in found[1:]} <= {SyncVerdict.DIFFERENT, SyncVerdict.PARTIAL}
    assert all(r.faulty and r.lag_checks is None for r in found[1:])
    assert found[1].largest_gap > 0


def test_a_learner_that_does_not_move_is_no_sync_fault() -> None:
    pair = Pair(lr=0.0)
    found = run(pair, lambda _: pair.sync())
    assert [r.verdict for r in found] == [SyncVerdict.IN_STEP, *[SyncVerdict.AT_REST] * 4]
    assert not found[-1].faulty
    assert "frozen-policy" in found[-1].settles


def test_updates_below_the_samplers_precision_are_told_from_a_frozen_learner() -> None:
    pair = Pair(torch.bfloat16, lr=1e-9)
    found = run(pair, lambda _: pair.sync(), updates=1)[-1]
    assert found.verdict is SyncVerdict.AT_REST
    assert found.learner_moved
    assert "too small for the sampler's type" in found.meaning


def test_a_frozen_layer_alone_is_in_step() -> None:
    pair = Pair()
    pair.learner[0].weight.requires_grad_(requires_grad=False)
    assert {r.verdict for r in run(pair, lambda _: pair.sync())} == {SyncVerdict.IN_STEP}


def test_a_version_that_is_off_by_one_is_found_though_the_weights_are_right() -> None:
    pair, check = Pair(), SyncCheck()
    for version in range(3):
        found = check.after_sync(pair.learner, pair.sampler, version=version, sampler_version=version + 1)
        assert found.verdict is SyncVerdict.IN_STEP
        assert found.version_wrong
        assert found.faulty
        pair.update()
        pair.sync()
    assert not check.after_sync(pair.learner, pair.sampler, version=3, sampler_version=3).version_wrong


def test_other_names_can_be_translated_and_nothing_is_claimed_where_they_are_not() -> None:
    pair = Pair()
    theirs = {f"model.{name}": weight for name, weight in pair.sampler.named_parameters()}
    blind = SyncCheck().after_sync(pair.learner, theirs)
    assert blind.verdict is SyncVerdict.UNKNOWN
    assert blind.faulty is None
    assert "async/synced_fraction" not in blind.metrics()
    assert SyncCheck(rename="model.{}".format).after_sync(pair.learner, theirs).verdict is SyncVerdict.IN_STEP


def test_quantised_weights_are_not_judged() -> None:
    pair = Pair()
    theirs = {name: (weight * 50).to(torch.int8) for name, weight in pair.sampler.named_parameters()}
    assert SyncCheck().after_sync(pair.learner, theirs).verdict is SyncVerdict.UNKNOWN


def test_fingerprints_of_another_process_do_and_uncast_ones_agree_up_to_rounding() -> None:
    pair = Pair(torch.bfloat16)
    pair.sync()
    theirs = fingerprint(pair.sampler)
    cast = fingerprint(pair.learner, as_type=theirs.types)
    assert SyncCheck().after_sync(cast, theirs).verdict is SyncVerdict.IN_STEP
    uncast = SyncCheck().after_sync(fingerprint(pair.learner), theirs)
    assert uncast.verdict is SyncVerdict.ROUNDED
    assert "a few small updates behind" in uncast.cannot_tell


def test_weights_that_are_not_finite_are_told() -> None:
    pair = Pair()
    with torch.no_grad():
        pair.learner[1].bias[0] = float("nan")
    pair.sync()
    assert "not finite" in SyncCheck().after_sync(pair.learner, pair.sampler).meaning


def test_a_monitor_takes_the_numbers_and_every_name_exists() -> None:
    pair, monitor = Pair(), Monitor(algorithm="GRPO")
    for step, result in enumerate(run(pair, lambda _: pair.sync())):
        monitor.log({"policy/loss": 0.0, **result.metrics()}, step=step)
        assert result.meaning
        assert result.cannot_tell
    assert monitor.faults == []
    known = {r.name for r in all_rules()} | {c.name for c in all_causes()}
    named = {name for names in _SETTLES.values() for name in names} | set(run(pair, lambda _: None)[-1].settles)
    assert named <= known
