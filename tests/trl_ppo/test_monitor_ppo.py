"""TRL's own PPO with the monitor beside it: the same run, every update judged, each verdict obeyed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from examples.tiny_language_model import tiny_ppo
from firstbreak.monitor.adapters import trl
from firstbreak.monitor.adapters.transformers import MonitorCallback
from firstbreak.monitor.checkpoints import Checkpoints
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action, Verdict
from tests.e2e.scripted_monitor import Scripted

pytestmark = pytest.mark.filterwarnings("ignore")
ROOT = Path(__file__).parents[2]
BEFORE = {"reward/train_min", "advantage/std", "critic/explained_variance", "policy/ratio_first_minibatch"}
AFTER = {"optim/grad_norm", "policy/ess", "policy/kl_k1", "objective/kl", "loss/value_avg", "val/ratio"}
SMALL: dict[str, Any] = {"per_device_train_batch_size": 16, "num_mini_batches": 2, "gradient_accumulation_steps": 4}


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    torch.set_num_threads(1)


class Keep(TrainerCallback):
    """The weights after each update."""

    def __init__(self, trainer: Any) -> None:
        self.trainer, self.after = trainer, dict[int, list[torch.Tensor]]()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.after[state.global_step] = weights(self.trainer)


def weights(trainer: Any) -> list[torch.Tensor]:
    return [weight.detach().clone() for weight in trainer.model.parameters()]


def same(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> bool:
    return all(map(torch.equal, one, other))


def scripted(trainer: Any, monitor: Scripted) -> tuple[Any, dict[int, list[torch.Tensor]]]:
    keep = Keep(trainer)
    trainer.add_callback(keep)
    found = trl.watch(trainer, monitor)
    trainer.train()
    return found, keep.after


@pytest.mark.parametrize("settings", [{}, SMALL])
def test_a_watched_run_is_the_same_run_and_every_update_is_seen_before_and_after(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    plain = tiny_ppo(tmp_path / "plain", 4, **settings)
    plain.train()
    watched, monitor = tiny_ppo(tmp_path / "watched", 4, **settings), Scripted()
    scripted(watched, monitor)
    assert same(weights(plain), weights(watched))
    assert monitor.faults == []
    assert [step for step, _ in monitor.seen] == [1, 1, 2, 2, 3, 3, 4, 4]
    for _, row in monitor.seen[::2]:
        assert row.keys() >= BEFORE
        assert row["policy/ratio_first_minibatch"] == pytest.approx(1.0, abs=1e-4)
    for logged, (_, row) in zip(watched.state.log_history, monitor.seen[1::2], strict=True):
        assert row.keys() >= AFTER
        assert row["objective/scores"] == logged["objective/scores"]
    for (_, early), (_, late) in zip(monitor.seen[::2], monitor.seen[1::2], strict=True):
        assert early["reward/train_mean"] == pytest.approx(late["objective/scores"])


def test_the_numbers_are_those_of_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raw advantages as the trainer hands them to be whitened, and the norm that a step finds."""
    from trl.experimental.ppo import ppo_trainer

    given: list[tuple[float, float]] = []
    whiten = ppo_trainer.masked_whiten

    def seen(values: torch.Tensor, mask: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        given.append((float(values[mask].mean()), float(values[mask].std(correction=0))))
        return whiten(values, mask, **kwargs)

    monkeypatch.setattr(ppo_trainer, "masked_whiten", seen)
    trainer, monitor, norms = tiny_ppo(tmp_path, 2, num_ppo_epochs=1), Scripted(), list[float]()
    step = trainer.optimizer.optimizer.step

    def normed(*args: Any, **kwargs: Any) -> Any:
        gradients = [w.grad for w in trainer.model.parameters() if w.grad is not None]
        norms.append(float(torch.cat([g.reshape(-1) for g in gradients]).norm()))
        return step(*args, **kwargs)

    trainer.optimizer.optimizer.step = normed
    scripted(trainer, monitor)
    for (mean, std), (_, row) in zip(given, monitor.seen[::2], strict=True):
        assert (row["advantage/mean"], row["advantage/std"]) == pytest.approx((mean, std), rel=1e-4, abs=1e-6)
    assert [row["optim/grad_norm"] for _, row in monitor.seen[1::2]] == pytest.approx(norms, rel=1e-5)


def test_an_update_that_is_bad_before_its_first_step_is_left_out_whole(tmp_path: Path) -> None:
    trainer = tiny_ppo(tmp_path, 4, **SMALL)
    found, after = scripted(trainer, Scripted({3: Action.STOP_UPDATE}))
    assert found.dropped == [3]
    assert [same(after[i], after[i + 1]) for i in (1, 2, 3)] == [False, True, False]


def test_what_is_known_only_afterwards_is_said_to_be_too_late(tmp_path: Path) -> None:
    class Late(Scripted):
        def log(self, metrics: Any, *, step: float | None = None, clock: str = "") -> Verdict:
            super().log(metrics, step=step, clock=clock)
            return Verdict(Action.STOP_UPDATE if "objective/kl" in metrics and step == 2 else Action.CONTINUE)

    monitor = Late()
    found, after = scripted(tiny_ppo(tmp_path, 3), monitor)
    assert found.dropped == []
    assert not same(after[1], after[2])
    assert any("after it was taken" in fault for fault in monitor.faults)


def test_training_ends_where_the_verdict_says_so_and_the_update_is_left_out(tmp_path: Path) -> None:
    trainer = tiny_ppo(tmp_path, 6)
    found, after = scripted(trainer, Scripted({3: Action.STOP_TRAINING}))
    assert trainer.state.global_step == 3
    assert found.dropped == [3]
    assert same(after[2], weights(trainer))
    assert found._gradient is None  # its hooks are gone: `train` ended as it always does


def test_a_callback_that_cannot_end_the_loop_says_so(tmp_path: Path) -> None:
    trainer, monitor = tiny_ppo(tmp_path, 4), Scripted({2: Action.STOP_TRAINING})
    trainer.add_callback(MonitorCallback(monitor))
    trainer.train()
    assert trainer.state.global_step == 4  # TRL's loop does not ask whether it is to stop
    assert any("told to stop and goes on" in fault for fault in monitor.faults)


def test_a_step_with_a_gradient_that_is_not_finite_is_left_out(tmp_path: Path) -> None:
    trainer = tiny_ppo(tmp_path, 12)
    monitor = Monitor(algorithm="RLHF-PPO", framework="trl", act={"numerics": "stop_update"})
    keep, count = Keep(trainer), [0]
    backward = trainer.accelerator.backward

    def spoilt(loss: torch.Tensor, **kwargs: Any) -> None:
        count[0] += 1
        backward(loss * float("nan") if count[0] == 20 else loss, **kwargs)  # the second epoch of update 10

    trainer.accelerator.backward = spoilt
    trainer.add_callback(keep)
    found = trl.watch(trainer, monitor)
    trainer.train()
    assert found.dropped == [10]
    assert all(bool(w.isfinite().all()) for w in weights(trainer))
    assert not same(keep.after[9], keep.after[10])  # its first epoch was taken


def test_going_back_to_the_monitors_own_store_restores_weights_and_moments(tmp_path: Path) -> None:
    monitor = Scripted({4: Action.ROLL_BACK}, checkpoints=Checkpoints(tmp_path / "store"))
    trainer = tiny_ppo(tmp_path, 4, save_strategy="steps", save_steps=2)
    _, after = scripted(trainer, monitor)
    assert same(after[2], weights(trainer))
    assert not same(after[2], after[3])
    assert monitor.checkpoints.open("failed").batch["query_responses"].shape == (64, 10)
    assert monitor.faults == []


def test_without_a_store_to_go_back_to_the_run_ends(tmp_path: Path) -> None:
    trainer, monitor = tiny_ppo(tmp_path, 5), Scripted({2: Action.ROLL_BACK})
    scripted(trainer, monitor)
    assert trainer.state.global_step == 2
    assert any("cannot be rolled back" in fault for fault in monitor.faults)


def test_a_monitor_that_always_fails_changes_nothing(tmp_path: Path) -> None:
    class Broken(Monitor):
        def log(self, *args: Any, **kwargs: Any) -> Verdict:
            raise RuntimeError("a fault of the monitor")

        def configure(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError("a fault of the monitor")

    plain = tiny_ppo(tmp_path / "plain", 2)
    plain.train()
    watched = tiny_ppo(tmp_path / "watched", 2)
    trl.watch(watched, Broken())
    watched.train()
    assert same(weights(plain), weights(watched))


def test_the_example_does_what_it_says(tmp_path: Path) -> None:
    path = ROOT / "examples" / "monitor_trl_ppo.py"
    assert len(path.read_text().splitlines()) <= 40
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert "stop_training" in done.stdout, done.stdout + done.stderr
    assert "ended after update 22" in done.stdout, done.stdout
    assert "Traceback" not in done.stderr
