"""What a verdict does to a Hugging Face trainer: gradients taken away, checkpoints gone back to, ranks that agree."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.monitor.adapters.hf_control import Saved, agreed, drop_gradients, earliest_onset, forget_batch
from firstbreak.monitor.verdict import Action, Alarm, Verdict

torch.set_num_threads(1)
OPTIMISERS: dict[str, Any] = {
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1),
    "adamw_fused": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1, fused=True),
    "adamw_foreach": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1, foreach=True),
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
    "adafactor": lambda p: torch.optim.Adafactor(p, lr=0.1, weight_decay=0.1),
}


def stepped(name: str) -> tuple[torch.nn.Module, Any]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
    optimiser = OPTIMISERS[name](model.parameters())
    model(torch.ones(2, 3)).sum().backward()
    optimiser.step()
    optimiser.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    return model, optimiser


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("name", OPTIMISERS)
def test_without_gradients_a_step_moves_neither_weights_nor_moments(name: str) -> None:
    model, optimiser = stepped(name)
    weights, moments = copy.deepcopy(model.state_dict()), copy.deepcopy(optimiser.state_dict())
    drop_gradients(optimiser)
    optimiser.step()
    assert same(dict(weights), dict(model.state_dict()))
    assert same(moments, optimiser.state_dict())


@pytest.mark.parametrize("name", OPTIMISERS)
def test_gradients_of_zero_would_not_do(name: str) -> None:
    model, optimiser = stepped(name)
    weights = copy.deepcopy(model.state_dict())
    for weight in model.parameters():
        weight.grad = torch.zeros_like(weight)
    optimiser.step()
    assert not same(dict(weights), dict(model.state_dict()))


def alarm(onset: float) -> Alarm:
    finding = Finding("X", "x", Link.NUMERICS, Component.LOSS, Severity.ERROR, Onset(onset, onset + 1), "m", "optim/lr")
    return Alarm(finding, at=onset + 2, row=1, wall=0.0)


@given(st.lists(st.floats(0, 1e6), max_size=5))
def test_the_earliest_onset_counts(onsets: list[float]) -> None:
    verdict = Verdict(Action.ROLL_BACK, tuple(alarm(onset) for onset in onsets))
    assert earliest_onset(verdict) == min([math.inf, *onsets])


@pytest.mark.parametrize("action", list(Action))
def test_one_process_agrees_with_itself(action: Action) -> None:
    assert agreed(action, 3.5, "cpu") == (action, 3.5)


class Trainer:
    """Records what is loaded into it."""

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def _load_from_checkpoint(self, folder: str) -> None:
        self.loaded.append(f"weights {Path(folder).name}")

    def _load_optimizer_and_scheduler(self, folder: str) -> None:
        self.loaded.append(f"optimiser {Path(folder).name}")


def saved(folder: Path, *steps: int) -> Saved:
    found = Saved()
    for step in steps:
        (folder / f"checkpoint-{step}").mkdir()
        found.note(step, folder / f"checkpoint-{step}")
    return found


def test_the_newest_checkpoint_from_before_the_break_is_loaded(tmp_path: Path) -> None:
    trainer, found = Trainer(), saved(tmp_path, 10, 20, 30)
    assert found.go_back(trainer, onset=25.0) == 20
    assert trainer.loaded == ["weights checkpoint-20", "optimiser checkpoint-20"]
    assert [step for step, _ in found.folders] == [10, 20]


def test_a_checkpoint_of_the_very_update_that_broke_is_not_healthy(tmp_path: Path) -> None:
    assert saved(tmp_path, 10, 20).go_back(Trainer(), onset=20.0) == 10


def test_a_deleted_checkpoint_is_passed_over(tmp_path: Path) -> None:
    found = saved(tmp_path, 10, 20)
    (tmp_path / "checkpoint-20").rmdir()
    assert found.go_back(Trainer(), onset=99.0) == 10


def test_there_may_be_nothing_to_go_back_to(tmp_path: Path) -> None:
    assert saved(tmp_path, 10).go_back(Trainer(), onset=5.0) is None
    assert Saved().go_back(Trainer(), onset=5.0) is None
    (tmp_path / "other").mkdir()
    assert saved(tmp_path / "other", 1).go_back(None, onset=5.0) is None


def test_a_checkpoint_that_does_not_help_is_not_gone_back_to_for_ever(tmp_path: Path) -> None:
    found = saved(tmp_path, 10)
    answers = [found.go_back(Trainer(), onset=15.0) for _ in range(5)]
    assert answers == [10, 10, 10, None, None]


def test_ever_older_checkpoints_do_not_help_for_ever_either(tmp_path: Path) -> None:
    found = saved(tmp_path, 10, 20, 30, 40, 50)
    assert [found.go_back(Trainer(), onset=at) for at in (50, 40, 30, 20)] == [40, 30, 20, None]


def test_responses_of_an_abandoned_policy_are_forgotten() -> None:
    trainer = SimpleNamespace(_buffered_inputs=[1])
    forget_batch(trainer)
    assert trainer._buffered_inputs is None
    forget_batch(SimpleNamespace())
