"""Values that a temperature makes too large are not called wrong; values that it does not explain are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from firstbreak.probes.environments.factories import WORLDS
from firstbreak.probes.ladder.outcome import Outcome
from firstbreak.probes.ladder.reading import Reading
from firstbreak.probes.ladder.rung import Answers
from firstbreak.probes.ladder.rungs import rungs
from firstbreak.probes.ladder.soft import soft_values

RUNG = rungs()["long-episode"]
GAMMA = 0.75
RIGHT = tuple([2.0] * 4)


def fixed_point(temperature: float, entropy: float) -> float:
    """Q = 0.5 + gamma (Q + temperature x entropy), by going round until it stays."""
    q = 0.0
    for _ in range(500):
        q = 0.5 + GAMMA * (q + temperature * entropy)
    return q


def told(excess: float, temperature: float | None, kind: str = "continuous", **more: Any) -> str:
    outcome = Outcome("long-episode", kind, 0, 1.0, "finished", q={0: [1.0]}, temperature=temperature)
    reading = Reading(tuple(r + excess for r in RIGHT), abs(excess), False)
    return soft_values(replace(RUNG, **more), outcome, reading, Answers(RIGHT), GAMMA)


def test_the_bound_is_reached_by_a_uniform_policy() -> None:
    bonus = fixed_point(0.2, math.log(2.0)) - 2.0
    assert bonus == pytest.approx(0.2 * math.log(2.0) * 3.0)
    assert f"{bonus:.2g}" in told(bonus, 0.2, closeness_frac=0.05)


@pytest.mark.parametrize("temperature", [None, 0.0, 1e-6])
def test_without_a_temperature_too_large_is_wrong(temperature: float | None) -> None:
    assert told(0.4, temperature, closeness_frac=0.05) == ""


@pytest.mark.parametrize("excess", [2.0, -0.5])
def test_what_the_temperature_does_not_explain_is_wrong(excess: float) -> None:
    assert told(excess, 0.2, closeness_frac=0.05) == ""


def test_an_action_is_no_value() -> None:
    assert told(0.3, 0.2, closeness_frac=0.05, asks="choice") == ""


def test_several_dimensions_add_up() -> None:
    world = replace(WORLDS["LongEpisode"], low=(-1.0, -2.0), high=(1.0, 2.0))
    most = 0.2 * (math.log(2.0) + math.log(4.0)) * 3.0
    assert told(most, 0.2, closeness_frac=0.05, world=world) != ""
    assert told(most + 0.2, 0.2, closeness_frac=0.05, world=world) == ""
