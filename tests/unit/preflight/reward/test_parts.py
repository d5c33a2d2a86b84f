"""What is said of parts that do not make the reward: which, with what weights, and how sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from firstbreak.check import Look, checks_of, look_at
from firstbreak.finding import Severity
from firstbreak.preflight.reward.parts import added_up, weighed
from firstbreak.preflight.reward.sample import RewardSample
from tests.unit.preflight.reward.made_samples import forgotten, hidden, not_adding, parted, rarely_paid, squashed


def put(made: RewardSample, name: str = "reward-parts-do-not-add-up") -> Look:
    return look_at(next(c for c in checks_of("reward") if c.name == name), made)


def test_a_part_that_is_not_paid_is_named() -> None:
    found = put(forgotten(0.0)).symptom
    assert found is not None
    assert found.where == "reward.b"
    assert found.severity is None  # a warning, as the check says


def test_missing_parts_are_a_warning_where_the_parts_were_named_and_else_a_note() -> None:
    for made in (forgotten(0.0), hidden(3.0)):
        named, guessed = put(made).symptom, put(replace(made, components_named=False)).symptom
        assert named is not None
        assert guessed is not None
        assert (named.severity, guessed.severity) == (None, Severity.INFO)


def test_a_sum_that_something_is_done_to_is_a_note() -> None:
    found = put(squashed(0.5)).symptom
    assert found is not None
    assert found.severity is Severity.INFO
    assert "add up in 0 % of rows" in found.message


def test_weights_are_noted_only_where_they_hold_in_every_row() -> None:
    assert weighed(forgotten(-1.0)) == ["the components are not what is paid; the reward is 1 x a, -1 x b"]
    assert weighed(rarely_paid()) == ["the components are not what is paid; the reward is 2 x a, 2 x b, 1 x bonus"]
    for made in (parted({"a": 1.0, "b": 1.0}), not_adding(0.1), forgotten(0.0), hidden(3.0)):
        assert not weighed(made)


def test_a_part_that_pays_rarely_keeps_its_weight() -> None:
    made = added_up(rarely_paid())
    assert made is not None
    assert not made.off.any()
    assert abs(made.weights["bonus"] - 1) < 1e-9


def test_no_part_dominates_a_reward_that_the_parts_do_not_make() -> None:
    odd = put(squashed(2.0), "reward-part-dominates")
    assert odd.symptom is None
    assert odd.skip is not None
    whole = put(parted({"heading": 50.0, "progress": 1.0}), "reward-part-dominates").symptom
    assert whole is not None


def test_the_least_weight_that_counts_follows_the_size_of_the_reward() -> None:
    made = forgotten(0.01)
    for scale in (1e-6, 1.0, 1e6):
        scaled = replace(
            made,
            rewards=scale * made.rewards,
            components={k: scale * np.asarray(v) for k, v in made.components.items()},
        )
        assert put(scaled).symptom is None
