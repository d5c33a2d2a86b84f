"""TD3 and DDPG of Stable-Baselines3 as the invariants see them; trainers whose targets lag behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from stable_baselines3 import SAC, TD3

from firstbreak.check import find_check, look_at
from firstbreak.diagnosis import Verdict
from firstbreak.preflight.invariants.adapters import sb3_off_policy
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.preflight.invariants.bench import Bench

torch.set_num_threads(1)


@pytest.mark.parametrize("name", ["TD3", "DDPG"])
def test_a_right_one_has_no_fault_and_is_looked_at(name: str) -> None:
    seen = inspect_trainer(f"sb3:{name}", isolate=False)
    assert [f.message for f in seen.findings] == []
    assert seen.verdict is Verdict.HEALTHY
    wanted = {"actor-lowers-critic-value", "target-network-never-moves", "policy-does-not-fit-batch"}
    assert wanted | {"td-target-truncated-cut", "stored-action-not-executed"} <= {*seen.clear}


class StillTarget(TD3):
    """Its targets are never moved."""

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        tau, self.tau = self.tau, 0.0
        super().train(gradient_steps, batch_size)
        self.tau = tau


class SameTwins(TD3):
    """Both critics begin with the same weights."""

    def _setup_model(self) -> None:
        super()._setup_model()
        first, second = self.critic.q_networks
        second.load_state_dict(first.state_dict())


@pytest.mark.parametrize(
    ("trainer", "fault"), [(StillTarget, "target-network-never-moves"), (SameTwins, "twin-critics-identical")]
)
def test_one_bug_has_one_name(trainer: Any, fault: str) -> None:
    assert [f.name for f in inspect_trainer(trainer, isolate=False).findings] == [fault]


@pytest.mark.parametrize("algorithm", [SAC, TD3])
def test_targets_that_lag_behind_are_no_gradients_left_over(algorithm: Any) -> None:
    pieces = sb3_off_policy.build(algorithm, "continuous", 0)
    with torch.no_grad():
        for network in pieces.target_critics:
            for weight in network.parameters():
                weight.add_(torch.randn_like(weight))
    found = look_at(find_check("gradients-not-cleared"), Bench(pieces))
    assert (found.symptom, found.error) == (None, "")
