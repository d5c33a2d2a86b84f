"""A real small training, rolled back after a poisoned stretch, goes on to the bit as if nothing had happened."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.monitor.checkpoints import (
    CheckpointError,
    Checkpoints,
    capture,
    missing_parts,
    restore,
    rng_state,
    set_rng_state,
    snapshot,
    validate_resume,
)

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def generators() -> Iterator[None]:
    before = rng_state()
    yield
    set_rng_state(before)


class Trainer:
    """Fits a small critic to noisy targets, with everything a trainer carries."""

    def __init__(self) -> None:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)
        self.critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        self.target_critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        self.optimiser = torch.optim.Adam(self.critic.parameters(), lr=1e-2)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimiser, lambda n: 1 / (1 + 0.1 * n))
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_optimiser = torch.optim.Adam([self.log_alpha], lr=3e-2)
        self.obs_rms = {"mean": np.zeros(3), "count": 1.0}
        self.env_rng = np.random.default_rng(5)
        self.replay = np.zeros((16, 3))
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=7)
        self.counter = {"num_updates": 0}
        self.losses: list[float] = []

    def parts(self) -> dict[str, Any]:
        names = (
            "critic target_critic optimiser scheduler log_alpha alpha_optimiser obs_rms env_rng replay scaler counter"
        )
        return {name: getattr(self, name) for name in names.split()}

    def train(self, updates: int) -> list[float]:
        for _ in range(updates):
            n = self.counter["num_updates"]
            obs = self.env_rng.normal(random.random(), 1 + np.random.rand(), 3)
            self.replay[n % 16] = obs
            self.obs_rms["count"] += 1
            self.obs_rms["mean"] += (obs - self.obs_rms["mean"]) / self.obs_rms["count"]
            batch = torch.as_tensor(self.replay - self.obs_rms["mean"], dtype=torch.float32)
            with torch.no_grad():
                noise = torch.randn(16, 1) * self.log_alpha.exp()
                wanted = 0.9 * self.target_critic(batch) + batch.sum(1, keepdim=True) + noise + 0.01 * (n % 5)
            loss = ((self.critic(batch) - wanted) ** 2).mean()
            self.optimiser.zero_grad()
            self.scaler.scale(loss).backward()
            self.losses.append(loss.item() * self.scaler.get_scale())
            self.scaler.step(self.optimiser)
            self.scaler.update()
            self.scheduler.step()
            self.alpha_optimiser.zero_grad()
            (self.log_alpha * (1 - loss.item())).sum().backward()
            self.alpha_optimiser.step()
            for slow, fast in zip(self.target_critic.parameters(), self.critic.parameters(), strict=True):
                slow.data.lerp_(fast.data, 0.05)
            self.counter["num_updates"] += 1
        return self.losses[-updates:]


@cache
def uninterrupted() -> list[float]:
    return Trainer().train(100)[50:]


def test_a_poisoned_run_rolled_back_equals_one_that_never_broke(tmp_path: Path) -> None:
    wanted = uninterrupted()
    trainer, store = Trainer(), Checkpoints(tmp_path)
    trainer.train(50)
    store.save(trainer.parts(), step=50)
    for group in trainer.optimiser.param_groups:
        group["lr"] = float("nan")
    assert np.isnan(trainer.train(10)[-1])
    store.save(trainer.parts(), step=60)
    store.broke(51)
    store.fail(trainer.parts(), step=60, reason="loss is NaN")
    state, step = store.roll_back()
    assert restore(state, **trainer.parts()) == ()
    assert step == 50
    assert trainer.train(50) == wanted
    assert store.load("failed")["critic"]["0.weight"].isnan().all()


def test_a_new_process_goes_on_to_the_bit(tmp_path: Path) -> None:
    wanted = uninterrupted()
    first = Trainer()
    first.train(50)
    Checkpoints(tmp_path).save(first.parts(), step=50)
    before = snapshot(first.parts())
    second = Trainer()
    state, _ = Checkpoints(tmp_path).resume()
    restore(state, **second.parts())
    assert validate_resume(before, second.parts()) == ()
    assert validate_resume(first.parts(), tmp_path / "save-000001") == ()
    assert second.train(50) == wanted


LOSSES = {
    "critic": ("critic", "value-loss-explosion"),
    "target_critic": ("target_network", "value-loss-explosion"),
    "optimiser": ("optimiser", "optimiser-state-lost"),
    "scheduler": ("scheduler", "lr-schedule-fault"),
    "log_alpha": ("log_alpha", "alpha-runaway"),
    "alpha_optimiser": ("alpha_optimiser", "alpha-collapse"),
    "obs_rms": ("observation_normaliser", "return-collapse"),
    "env_rng": ("rng", "batch-repeated"),
    "replay": ("replay", "q-divergence"),
    "scaler": ("grad_scaler", "steps-skipped"),
    "counter": ("step", "lr-schedule-fault"),
}


@pytest.mark.parametrize("left_out", LOSSES)
def test_each_part_left_out_changes_the_run_and_is_named_with_its_symptom(tmp_path: Path, left_out: str) -> None:
    wanted = uninterrupted()
    first = Trainer()
    first.train(50)
    parts = first.parts()
    del parts[left_out]
    Checkpoints(tmp_path).save(parts, step=50)
    second = Trainer()
    state, _ = Checkpoints(tmp_path).resume()
    restore(state, **{name: part for name, part in second.parts().items() if name != left_out})
    part, rule = LOSSES[left_out]
    for lacks in (validate_resume(first.parts(), second.parts()), validate_resume(first.parts(), state)):
        found = {lack.part: lack for lack in lacks}
        assert part in found
        assert set(found) <= {part, "scheduler"}  # the rate stands in the optimiser's settings, too
        assert rule in found[part].rules
        assert found[part].symptom
        assert left_out in found[part].detail
    assert second.train(50) != wanted


def test_generators_not_restored_change_the_run_too(tmp_path: Path) -> None:
    wanted = uninterrupted()
    first = Trainer()
    first.train(50)
    store = Checkpoints(tmp_path)
    store.save(first.parts(), step=50)
    second = Trainer()
    restore(store.load("last"), **second.parts())
    assert second.train(50) != wanted


def test_the_moments_symptom_says_for_how_long() -> None:
    first = Trainer()
    first.train(2)
    fresh = Trainer().optimiser
    lack = next(
        x for x in missing_parts(capture(optimiser=fresh), {"optimiser": first.optimiser}) if x.what == "missing"
    )
    assert "about 1000 at beta2 = 0.999" in lack.symptom
    assert lack.paths[0].startswith("optimiser/state/0/")


def test_exactly_the_tensors_that_differ_are_named() -> None:
    trainer = Trainer()
    before = snapshot(trainer.parts())
    with torch.no_grad():
        trainer.critic[2].bias += 1e-7
    (lack,) = validate_resume(before, trainer.parts())
    assert lack.paths == ("critic/2.bias",)
    assert (lack.part, lack.what) == ("critic", "differs")


def test_capture_is_a_copy_and_restore_puts_it_back() -> None:
    trainer = Trainer()
    trainer.train(3)
    state, generators = capture(**trainer.parts()), rng_state(env=trainer.env_rng)
    first = trainer.train(5)
    restore(state, **trainer.parts())
    assert set_rng_state(generators, env=trainer.env_rng) == ()
    assert trainer.train(5) == first


def test_restore_says_what_is_left_and_what_cannot_be(tmp_path: Path) -> None:
    state = capture(step=3, w=np.arange(3), t=torch.ones(2), nest=[torch.ones(1), {"a": 1}])
    w, t, nest = np.zeros(3), torch.zeros(2), [torch.zeros(1), {"a": 5, "b": 6}]
    inner = nest[0]
    assert restore(state, w=w, t=t, nest=nest) == ("step",)
    assert (w.tolist(), t.tolist(), nest[1], inner) == ([0, 1, 2], [1, 1], {"a": 1}, torch.ones(1))
    with pytest.raises(CheckpointError, match="step = state"):
        restore(state, step=0)
    with pytest.raises(CheckpointError, match=r"shape \[4\], the checkpoint \[3\]"):
        restore(state, w=np.zeros(4))
    with pytest.raises(CheckpointError, match="nothing named 'v'"):
        restore(state, v=w)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.random.default_rng(3),
        lambda: np.random.RandomState(3),
        lambda: random.Random(3),
        lambda: torch.Generator().manual_seed(3),
    ],
)
def test_every_kind_of_generator_is_put_back(tmp_path: Path, make: Any) -> None:
    def draw(generator: Any) -> float:
        if isinstance(generator, torch.Generator):
            return torch.rand(1, generator=generator).item()
        return float(generator.random())

    one, store = make(), Checkpoints(tmp_path)
    draw(one)
    assert store.save({"g": one}, step=1)
    first = [draw(one) for _ in range(3)]
    other = make()
    restore(store.load("last"), g=other)
    assert [draw(other) for _ in range(3)] == first


def test_generators_that_are_not_here_are_named() -> None:
    state = rng_state(env=np.random.default_rng(0))
    state["cuda"] = [torch.zeros(16, dtype=torch.uint8)] * 64
    assert set(set_rng_state(state)) >= {"given:env", "cuda:63"}
    with pytest.raises(CheckpointError, match="'other'"):
        set_rng_state(state, other=np.random.default_rng(0))


def test_every_cuda_device_is_asked_and_set_once_cuda_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cuda" not in rng_state()
    devices = {0: torch.tensor([1], dtype=torch.uint8), 1: torch.tensor([2], dtype=torch.uint8)}
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: [one.clone() for one in devices.values()])
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: devices.__setitem__(device, state))
    state = rng_state()
    devices.update({0: torch.zeros(1), 1: torch.zeros(1)})
    assert set_rng_state(state) == ()
    assert [int(one) for one in devices.values()] == [1, 2]
