"""What broke is kept: the state, the batch, the generators and the reason, before the run goes back or ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3 import DQN, PPO

from firstbreak.monitor import Monitor
from firstbreak.monitor.adapters.parts import obeying
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.checkpoints import Checkpoints
from firstbreak.monitor.verdict import Action
from firstbreak.trainers import ppo
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)
SMALL: dict[str, Any] = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 0}


@pytest.mark.parametrize("action", [Action.STOP_TRAINING, Action.ROLL_BACK])
def test_the_rollout_of_ppo_is_kept_with_the_weights_that_broke(tmp_path: Path, action: Action) -> None:
    monitor = Answering(action, at=6, checkpoints=Checkpoints(tmp_path))
    model: Any = PPO("MlpPolicy", "CartPole-v1", n_steps=32, batch_size=16, n_epochs=1, **SMALL)
    model.learn(32 * 6, callback=MonitorCallback(monitor, checkpoint_rows=2, every_steps=1))
    opened = monitor.checkpoints.open("failed")
    assert opened.batch["observations"].shape[0] == 32
    assert opened.batch.keys() >= {"actions", "rewards", "advantages", "returns", "log_probs", "values"}
    assert opened.checkpoint.reason
    assert "policy" in "".join(opened.state)
    assert not any("failed state" in fault for fault in monitor.faults)


def test_an_algorithm_with_a_replay_buffer_keeps_its_state_alone(tmp_path: Path) -> None:
    monitor = Answering(Action.STOP_TRAINING, at=3, checkpoints=Checkpoints(tmp_path))
    model: Any = DQN("MlpPolicy", "CartPole-v1", learning_starts=16, buffer_size=200, **SMALL)
    model.learn(2000, callback=MonitorCallback(monitor))
    assert model.num_timesteps < 2000
    opened = monitor.checkpoints.open("failed")
    assert opened.batch is None
    assert opened.state


def test_the_reference_trainers_keep_theirs_and_the_reason_is_what_was_found(tmp_path: Path) -> None:
    config = ppo.PPOConfig(
        num_steps=16, num_envs=2, update_epochs=4, hidden_sizes=(8,), learning_rate=0.5, anneal_lr=False
    )
    monitor = Monitor(None, act={"*": "stop_training"}, checkpoints=Checkpoints(tmp_path))
    trainer = ppo.PPO(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    trainer.learn(6400, log_to(monitor, trainer))
    assert trainer.env_steps < 6400
    failed = monitor.checkpoints.failed
    assert failed is not None
    assert failed.reason.startswith(monitor.alarms[-1].finding.name)
    assert failed.step == monitor.alarms[-1].at


class Store:
    """Keeps what it is told to keep; a batch that holds a text it cannot."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def broke(self, at: float) -> None:
        """Nothing: no row is logged."""

    mended = broke

    def fail(self, state: Any, *, step: float, reason: str, batch: Any = None) -> Path | None:
        if batch is not None and "text" in batch:
            return None
        self.kept.append(batch)
        return Path("somewhere")


@pytest.mark.parametrize(
    ("batch", "kept"),
    [
        ({"x": np.zeros(4)}, True),
        ({"text": "what no store can keep"}, False),
        ({"nested": [torch.zeros(8), {"deeper": np.zeros(8)}]}, False),
    ],
)
def test_a_batch_that_cannot_be_kept_does_not_cost_the_state(
    batch: Any, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(obeying, "MOST_BATCH_BYTES", 64)
    monitor = Monitor(None, checkpoints=Store())
    obeying.keep_failed(monitor, {"weights": torch.zeros(2)}, batch)
    assert monitor.checkpoints.kept == [batch if kept else None]
    assert monitor.faults == []


def test_a_store_that_fails_or_keeps_no_failed_states_is_no_harm() -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("the disk is gone")

    for store in (SimpleNamespace(broke=print, mended=print), SimpleNamespace(broke=print, mended=print, fail=fail)):
        monitor = Monitor(None, checkpoints=store)
        obeying.keep_failed(monitor, {}, None)
        assert len(monitor.faults) == hasattr(store, "fail")
