"""Plus the number of action dimensions in place of minus it, in boxes so wide that it can be reached."""

from __future__ import annotations

import math
from typing import Any

import pytest

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


@pytest.mark.parametrize("target", [-3.0, -3.0 + 3 * math.log(2), 2.9])
def test_the_recipes_and_a_near_miss_are_quiet(target: float) -> None:
    assert asked(target) is None


def test_discrete_recipe_is_quiet() -> None:
    assert asked(0.98 * math.log(4), n_actions=4) is None
