"""The experiments that take a trainer apart, on PPO as it should be and with one fault each."""

from __future__ import annotations

import pytest

from firstbreak.errors import InputError
from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.running.here import Here

PARTS = "tests.unit.experiments.control.torch_parts"
TOYS = "tests.unit.experiments.control.toy_trainers"
SIDES = f"{TOYS}:sides"
SHOWN = f"{TOYS}:shown"

PLANTED = [
    ("critic-only-fit", "healthy", SHOWN, "refuted"),
    ("critic-only-fit", "value_detached", SHOWN, "confirmed"),
    ("critic-only-fit", "healthy", f"{TOYS}:noisy_arms", "refuted"),  # all observations are the same
    ("critic-only-fit", "value_detached", f"{TOYS}:noisy_arms", "confirmed"),
    ("critic-only-fit", "value_lost", SHOWN, "too_few_seeds"),
    ("overfit-one-batch", "healthy", SIDES, "refuted"),
    ("overfit-one-batch", "policy_detached", SIDES, "confirmed"),
    ("overfit-one-batch", "sign_flipped", SIDES, "confirmed"),
    ("overfit-one-batch", "half_frozen", SIDES, "too_few_seeds"),
    ("overfit-one-batch", "epsilon_huge", SIDES, "confirmed"),
    ("overfit-one-batch", "clipped_away", SIDES, "confirmed"),
    ("overfit-one-batch", "epsilon_large", SIDES, "refuted"),
    ("overfit-one-batch", "clipped_hard", SIDES, "refuted"),
    ("overfit-one-batch", "rate_low", SIDES, "refuted"),
    ("zero-learning-rate", "healthy", SIDES, "refuted"),
    ("one-epoch-one-minibatch", "healthy", SIDES, "refuted"),
    ("one-epoch-one-minibatch", "used_up", SIDES, "confirmed"),
    ("one-epoch-one-minibatch", "leaping", SIDES, "refuted"),  # a single update is too much already
]


def given_to(name: str) -> dict[str, int]:
    return {"updates": 150} if name in ("critic-only-fit", "overfit-one-batch") else {}


@pytest.mark.parametrize(("name", "trainer", "env", "wanted"), PLANTED, ids=[f"{p[0]}-{p[1]}-{p[3]}" for p in PLANTED])
def test_the_verdict_is_the_planted_one(name: str, trainer: str, env: str, wanted: str) -> None:
    result = run_experiment(
        name, Subject(f"{PARTS}:{trainer}", env, given=given_to(name)), Protocol(most=4), executor=Here()
    )
    said = result.outcome.value if result.outcome.value != "inconclusive" else result.why.value
    assert said == wanted, result.words


def test_a_rate_that_shows_nothing_is_refused_not_called_a_fault() -> None:
    with pytest.raises(InputError, match=r"too little to tell a low learning rate from a fault"):
        run_experiment("overfit-one-batch", Subject(f"{PARTS}:rate_lower", SIDES), executor=Here())


def test_a_rollout_that_is_not_renewed_is_named_in_place_of_a_verdict() -> None:
    with pytest.raises(InputError, match="the very same rows") as caught:
        run_experiment("one-epoch-one-minibatch", Subject(f"{PARTS}:stale", SIDES), executor=Here())
    assert "stale-rollouts" in str(caught.value.hint)


def test_a_round_that_moves_nothing_says_nothing_of_the_number_of_updates() -> None:
    with pytest.raises(InputError, match="does not move its policy"):
        run_experiment("one-epoch-one-minibatch", Subject(f"{PARTS}:policy_frozen", SIDES), executor=Here())


def test_by_the_score_it_is_planned_as_the_trainings_that_it_is() -> None:
    one = find_experiment("one-epoch-one-minibatch")
    assert one.priced(Subject("a:b", SIDES)) == (2, one.cost, "nats")
    pilot, cost, unit = one.priced(Subject("a:b", SIDES, given={"reading": "score"}))
    assert (pilot, cost.runs, unit) == (5, 2.0, "return")


def test_a_trainer_that_shows_no_parts_is_refused_with_the_way_to_show_them() -> None:
    subject = Subject(f"{TOYS}:good", SIDES)
    with pytest.raises(InputError, match=r"cannot be reached[\s\S]*pieces"):
        run_experiment("overfit-one-batch", subject, executor=Here())
