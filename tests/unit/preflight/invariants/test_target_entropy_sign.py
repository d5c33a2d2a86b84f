"""Plus the number of action dimensions in place of minus it, in boxes so wide that it can be reached."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from firstbreak.check import look_at
from firstbreak.finding import Severity
from firstbreak.preflight.invariants.bench import Bench
from firstbreak.preflight.invariants.checks.target_entropy_unreachable import look
from firstbreak.preflight.invariants.pieces import Pieces


def asked(target: float, **more: Any) -> Any:
    settings = {"target_entropy": target, "policy_low": [-2.0] * 3, "policy_high": [2.0] * 3, **more}
    return look_at(look, Bench(Pieces(algorithm="SAC", settings=settings), 0)).symptom


def test_plus_the_number_of_dimensions_is_named() -> None:
    found = asked(3.0)
    assert found is not None
    assert found.severity == Severity.WARNING
    assert "+3" in found.message


UNBOUNDED: dict[str, Any] = {"policy_low": None, "policy_high": None, "action_low": [-1.0] * 3}


def test_without_bounds_of_the_policy_it_is_named_too() -> None:
    found = asked(3.0, **UNBOUNDED)
    assert found is not None
    assert found.severity == Severity.WARNING
    assert "+3" in found.message


@pytest.mark.parametrize("target", [-3.0, 2.9, 4.0])
def test_without_bounds_other_targets_are_quiet(target: float) -> None:
    assert asked(target, **UNBOUNDED) is None


def test_the_dimensions_are_those_of_the_draws_where_no_setting_says_them() -> None:
    def act(obs: Any) -> Any:
        action = torch.randn(len(obs), 3)
        return action, -action.square().sum(-1)

    def minibatch() -> Any:
        return {"obs": torch.zeros(4, 2)}

    settings = {"target_entropy": 3.0, "policy_low": None, "policy_high": None}
    found = look_at(look, Bench(Pieces(algorithm="SAC", act=act, minibatch=minibatch, settings=settings), 0))
    assert found.symptom is not None, (found.skip, found.error)


@pytest.mark.parametrize("target", [-3.0, -3.0 + 3 * math.log(2), 2.9])
def test_the_recipes_and_a_near_miss_are_quiet(target: float) -> None:
    assert asked(target) is None


def test_discrete_recipe_is_quiet() -> None:
    assert asked(0.98 * math.log(4), n_actions=4) is None
