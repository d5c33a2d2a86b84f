"""Known trainers are taken hold of through their own methods, and have no fault."""

from __future__ import annotations

from typing import Any

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.finding import Severity
from firstbreak.preflight.invariants.api import inspect_trainer

HEALTHY = [
    "sb3:PPO",
    "sb3:A2C",
    "sb3:DQN",
    "sb3:SAC",
    "firstbreak.trainers.ppo:PPO",
    "firstbreak.trainers.dqn:DQN",
    "firstbreak.trainers.sac:SAC",
    "firstbreak.trainers.mmrkhs:MMRKHS",
]


@pytest.mark.parametrize("target", HEALTHY)
def test_a_known_trainer_is_healthy(target: str) -> None:
    seen = inspect_trainer(target, isolate=False, seed=3)
    assert [f.message for f in seen.findings if f.severity is not Severity.INFO] == []
    assert seen.errors == ()
    assert seen.verdict is Verdict.HEALTHY


def test_an_overridden_method_of_a_reference_trainer_is_seen() -> None:
    from firstbreak.trainers.dqn import DQN

    class Wrong(DQN):
        def td_target(self, sample: Any) -> Any:
            return sample["reward"] + self.gamma * self.target_network(sample["next_obs"]).max(-1).values.detach()

    seen = inspect_trainer(Wrong)
    assert seen.first_break is not None
    assert seen.first_break.name == "td-target-terminated-bootstraps"


def test_an_overridden_method_of_an_sb3_algorithm_is_seen() -> None:
    from stable_baselines3 import A2C

    class Wrong(A2C):
        def collect_rollouts(self, *args: Any, **settings: Any) -> bool:
            going = super().collect_rollouts(*args, **settings)
            self.rollout_buffer.advantages *= -1.0
            return going

    seen = inspect_trainer(Wrong)
    assert "rollout-advantage-wrong" in {f.name for f in seen.findings}
