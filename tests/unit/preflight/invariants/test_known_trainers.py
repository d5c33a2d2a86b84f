"""Known trainers are taken hold of through their own methods, and have no fault."""

from __future__ import annotations

from typing import Any

import pytest

from firstbreak.check import find_check
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.finding import Component, Severity
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.preflight.invariants.bench import Bench
from firstbreak.preflight.invariants.subjects import subjects

from .small_trainers import SmallPPO

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


def test_a_step_size_that_outgrows_its_plan_is_named() -> None:
    from tests.probes.mutants_mmrkhs import mmrkhs_eta_squared_schedule

    seen = inspect_trainer(mmrkhs_eta_squared_schedule)
    found = {f.name: f for f in seen.findings}["schedule-not-followed"]
    assert found.component is Component.OPTIMISER
    assert "eta is" in found.message


def test_a_training_function_carries_its_pieces_along() -> None:
    def train(make_env: Any, *, total_steps: int, seed: int) -> None:
        raise AssertionError("nothing is trained")

    with pytest.raises(InputError, match="wants make_env, total_steps"):
        inspect_trainer(train)
    train.pieces = lambda: SmallPPO("flipped").pieces()  # type: ignore[attr-defined]
    seen = inspect_trainer(train)
    assert "policy-loss-sign-flipped" in {f.name for f in seen.findings}


@pytest.mark.parametrize("seed", [0, 1])
def test_dqn_is_collected_from_as_at_the_start_of_a_run(seed: int) -> None:
    """Nearly all actions are random then; with seed 1 the untrained network's own choice is one action alone."""
    (pieces,) = subjects("firstbreak.trainers.dqn:DQN", seed)
    answer = find_check("one-action-only").look(Bench(pieces, seed))
    assert answer is None


def test_an_environment_is_sent_to_its_own_command() -> None:
    from tests.unit.preflight.environment.small_worlds import Drive

    with pytest.raises(InputError, match="is an environment") as raised:
        inspect_trainer(Drive)
    assert "preflight env" in raised.value.hint
