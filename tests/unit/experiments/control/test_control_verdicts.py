"""Every control experiment on real subjects: one where it is true, one where it is not, one it must leave open."""

from __future__ import annotations

from typing import Any

import pytest

from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.result import Result
from firstbreak.experiments.running.here import Here

TOYS = "tests.unit.experiments.control.toy_trainers"
SHORT: dict[str, Any] = {"most": 6}
NO_TRAINER = ""
SCORED: dict[str, Any] = {"given": {"reading": "score"}}
FASTER: dict[str, Any] = {"setting": "learning_rate", "value": 1.0}
STARVED: dict[str, Any] = {
    "given": {"expect": 0.95, "episodes": 100}, "steps": 80, "settings": {"learning_rate": 1.0}, "margin": 0.15,
}  # fmt: skip

PLANTED: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("reversed-reward", "flipped", "arms", "confirmed", {}),
    ("reversed-reward", "good", "arms", "refuted", {"given": {"expect": 2.0}}),  # goes up, if not as far as hoped
    ("reversed-reward", "frozen", "arms", "not_sensitive", {}),  # goes nowhere: flipped or not, who can say
    ("reversed-reward", "lucky_flip", "arms", "too_few_seeds", SHORT),
    ("reversed-reward", "good", "arms", "not_reproduced", {}),
    ("constant-reward", "drifting", "arms", "confirmed", {}),
    ("constant-reward", "good", "arms", "refuted", {}),
    ("constant-reward", "lucky_drift", "arms", "too_few_seeds", SHORT),
    ("constant-reward", "frozen", "arms", "not_reproduced", {}),
    ("random-reward", "drifting", "arms", "confirmed", {}),
    ("random-reward", "calm", "arms", "refuted", {}),
    ("random-reward", "lucky_drift", "arms", "too_few_seeds", SHORT),
    ("untrained-start", "frozen", "arms", "confirmed", {}),
    ("untrained-start", "good", "arms", "refuted", {}),
    ("untrained-start", "lucky", "arms", "too_few_seeds", SHORT),
    ("deterministic-evaluation", "timid", "arms", "confirmed", {}),
    ("deterministic-evaluation", "good", "arms", "refuted", {}),
    ("deterministic-evaluation", "moody", "arms", "too_few_seeds", SHORT),
    ("zero-learning-rate", "drifting", "arms", "confirmed", {}),
    ("zero-learning-rate", "good", "arms", "refuted", {}),
    ("zero-learning-rate", "frozen", "arms", "not_reproduced", {}),
    ("one-epoch-one-minibatch", "overworked", "arms", "confirmed", SCORED),
    ("one-epoch-one-minibatch", "frozen", "arms", "refuted", SCORED),
    ("one-epoch-one-minibatch", "good_with_epochs", "arms", "not_reproduced", SCORED),
    ("batch-x4", "starved", "noisy_arms", "confirmed", STARVED),
    ("batch-x4", "frozen", "arms", "refuted", {}),
    ("batch-x4", "good_with_epochs", "arms", "not_reproduced", {}),
    ("fixed-normaliser", "good", "far_sides", "confirmed", {}),
    ("fixed-normaliser", "frozen", "far_sides", "refuted", {}),
    ("fixed-normaliser", "good", "moving_sides", "not_reproduced", {}),
    ("resume", "forgetful", "arms", "confirmed", {}),
    ("resume", "keeper", "arms", "refuted", {}),
    ("resume", "absent_minded", "arms", "too_few_seeds", SHORT),
    ("oracle-against-random", NO_TRAINER, "deaf", "confirmed", {"given": {"expert": f"{TOYS}:last_arm"}}),
    ("oracle-against-random", NO_TRAINER, "arms", "refuted", {"given": {"expert": f"{TOYS}:last_arm"}}),
    (
        "oracle-against-random",
        NO_TRAINER,
        "arms",
        "too_few_seeds",
        {"given": {"expert": f"{TOYS}:hardly_expert"}, **SHORT},
    ),
    # Noise twice as wide as the difference hides nothing, be it the same for both policies or not.
    ("oracle-against-random", NO_TRAINER, "noisy_arms", "refuted", {"given": {"expert": f"{TOYS}:last_arm"}}),
    ("oracle-against-random", NO_TRAINER, "whims", "confirmed", {"given": {"expert": f"{TOYS}:last_arm"}, "seeds": 20}),
    ("one-setting", "good", "arms", "confirmed", {"settings": {"learning_rate": 1e-3}, "given": FASTER}),
    ("one-setting", "frozen", "arms", "refuted", {"settings": {"learning_rate": 1e-3}, "given": FASTER}),
    ("one-setting", "lucky", "arms", "too_few_seeds", {"settings": {"learning_rate": 1e-3}, "given": FASTER, **SHORT}),
    ("one-setting", "good", "arms", "not_reproduced", {"settings": {"learning_rate": 0.9}, "given": FASTER}),
    ("reversed-reward", "seedless", "arms", "seed_ignored", {"given": {"expect": 2.0}}),
]
"""(experiment, trainer, task, verdict or the reason why there is none, how it is run)."""


def go(name: str, trainer: str, task: str, how: dict[str, Any]) -> Result:
    given, settings, steps = how.get("given", {}), how.get("settings", {}), how.get("steps")
    rest = {k: v for k, v in how.items() if k not in ("given", "settings", "steps")}
    subject = Subject(f"{TOYS}:{trainer}" if trainer else "", f"{TOYS}:{task}", steps, settings, given)
    return run_experiment(name, subject, Protocol(**rest), executor=Here())


@pytest.mark.parametrize(
    ("name", "trainer", "task", "wanted", "how"), PLANTED, ids=[f"{p[0]}-{p[1]}-{p[2]}-{p[3]}" for p in PLANTED]
)
def test_the_verdict_is_the_planted_one(name: str, trainer: str, task: str, wanted: str, how: dict[str, Any]) -> None:
    result = go(name, trainer, task, how)
    said = result.outcome.value if result.outcome.value != "inconclusive" else result.why.value
    assert said == wanted, result.words
    assert not result.troubles
    if wanted == "too_few_seeds":
        assert (result.seeds_needed or 0) >= 1


def test_every_control_experiment_has_a_true_a_false_and_an_open_case() -> None:
    for name in {p[0] for p in PLANTED}:
        answers = {p[3] for p in PLANTED if p[0] == name}
        assert {"confirmed", "refuted"} <= answers
        assert answers - {"confirmed", "refuted"}
