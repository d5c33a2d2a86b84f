"""An experiment on a recorded run, from the run's subject to its verdict, for real and in this process."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.settle.making import experimented
from benchmarks.settle.subjects import subject_of

RUN: dict[str, Any] = {"subject": "ppo", "task": "Reach", "kind": "fault", "seed": 0, "start_frac": 0.5}


def made(what: str, experiment: str, **changes: Any) -> dict[str, Any]:
    run = {**RUN, **changes, **({"kind": "healthy", "start_frac": None} if what == "clean" else {})}
    run["id"] = f"{run['subject']}/{run['task']}/{what}/0"
    return experimented(experiment, subject_of(run, [], experiment), 60.0, lambda: None)


@pytest.mark.parametrize(
    ("what", "experiment", "outcome", "changes"),
    [
        ("reward-term-flipped", "oracle-against-random", "confirmed", {}),
        ("spread-frozen", "oracle-against-random", "refuted", {}),
        ("policy-frozen", "overfit-one-batch", "confirmed", {"task": "CartPole-v1"}),
        ("critic-off", "overfit-one-batch", "refuted", {"task": "CartPole-v1"}),
        ("surrogate-dead", "overfit-one-batch", "confirmed", {"subject": "sb3_ppo", "task": "CartPole-v1"}),
        ("actor-detached", "overfit-one-batch", "confirmed", {"subject": "sac", "task": "Pendulum-v1"}),
        ("clean", "overfit-one-batch", "refuted", {"subject": "sac", "task": "Pendulum-v1"}),
        ("clean", "zero-learning-rate", "confirmed", {"subject": "sb3_ppo", "task": "ReachNormalised"}),
        ("discount-short", "zero-learning-rate", "refuted", {"subject": "sb3_dqn", "task": "CartPole-v1"}),
    ],
)
def test_what_was_planted_decides(what: str, experiment: str, outcome: str, changes: dict[str, Any]) -> None:
    result = made(what, experiment, **changes)
    assert result["outcome"] == outcome, result["words"]


def test_the_owner_of_a_run_knows_its_settings() -> None:
    run = {**RUN, "subject": "sb3_dqn", "task": "CartPole-v1", "id": "sb3_dqn/CartPole-v1/epsilon-fast/0"}
    subject = subject_of({**run, "start_frac": 0.0}, [], "reversed-reward")
    assert subject.steps == 30_000
    assert subject.settings["exploration_fraction"] == 0.001, "as planted"
    assert subject.settings["n_envs"] == 4
    assert subject.settings["tau"] == 1.0, "and SB3's own defaults"
    twins = [{"truth": {"step": [1, 2], "score": [1.0, score]}, "end_step": 2} for score in (3.0, 5.0)]
    assert subject_of(run, twins).given["expect"] == 4.0
