"""Overfitting one batch, of trainers whose actor follows a critic: what drifts by chance is told from what is led."""

from __future__ import annotations

import pytest

from firstbreak.errors import InputError
from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.running.here import Here

PARTS = "tests.unit.experiments.control.sac_parts"


@pytest.mark.parametrize(
    ("trainer", "wanted", "least", "most"),
    [("healthy", "refuted", 0.8, 1.0), ("detached", "confirmed", 0.0, 0.0), ("away", "confirmed", -1.0, -0.5)],
)
def test_three_pairs_of_seeds_say_whether_the_actor_is_led(
    trainer: str, wanted: str, least: float, most: float
) -> None:
    subject = Subject(f"{PARTS}:{trainer}", "Pendulum-v1")
    result = run_experiment("overfit-one-batch", subject, Protocol(most=10), executor=Here())
    assert result.outcome.value == wanted, result.words
    assert len(result.pairs) == 3  # a drift that is taken for following needs ten, and may then decide nothing
    assert all(least <= pair.changed["followed_frac"] <= most for pair in result.pairs)


@pytest.mark.parametrize(
    ("trainer", "wanted"), [("healthy", "refuted"), ("detached", "confirmed"), ("away", "confirmed")]
)
def test_a_batch_that_shows_nothing_still_says_whether_the_update_works(trainer: str, wanted: str) -> None:
    subject = Subject(f"{PARTS}:{trainer}", f"{PARTS}:blind")
    result = run_experiment("overfit-one-batch", subject, Protocol(most=10), executor=Here())
    assert result.outcome.value == wanted, result.words


def test_a_critic_that_sees_nothing_fits_what_actions_tell() -> None:
    result = run_experiment("critic-only-fit", Subject(f"{PARTS}:healthy", f"{PARTS}:blind"), executor=Here())
    assert result.outcome.value == "refuted", result.words


def test_parts_that_are_the_same_trainer_twice_are_refused() -> None:
    subject = Subject(given={"pieces": f"{PARTS}:the_same_parts"}, trainer="unused", env="unused")
    with pytest.raises(InputError, match=r"gives the same one[\s\S]*a new trainer each time"):
        run_experiment("overfit-one-batch", subject, executor=Here())
