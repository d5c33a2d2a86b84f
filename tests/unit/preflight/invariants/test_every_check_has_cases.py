"""Every check of the family fires on one bug, and looks and stays quiet on a healthy trainer and on a near miss."""

from __future__ import annotations

import pytest

from firstbreak.check import checks_of, find_check, look_at
from firstbreak.preflight.invariants.bench import Bench

from . import cases_data, cases_loop, cases_ppo, cases_replay
from .case import Case, Make

CASES: dict[str, Case] = {**cases_ppo.CASES, **cases_replay.CASES, **cases_data.CASES, **cases_loop.CASES}


def test_every_check_has_a_case_and_every_case_a_check() -> None:
    assert {c.name for c in checks_of("invariants")} == set(CASES)


def quiet(name: str, make: Make) -> None:
    found = look_at(find_check(name), Bench(make()))
    assert found.error == ""
    assert found.symptom is None, found.symptom.message if found.symptom else ""
    assert found.skip is None, found.skip.reason if found.skip else ""


@pytest.mark.parametrize("name", CASES)
def test_it_fires(name: str) -> None:
    found = look_at(find_check(name), Bench(CASES[name].fires()))
    assert found.error == ""
    assert found.symptom is not None, found.skip


@pytest.mark.parametrize("name", CASES)
def test_it_looks_at_a_healthy_trainer_and_finds_nothing(name: str) -> None:
    quiet(name, CASES[name].healthy)


@pytest.mark.parametrize("name", CASES)
def test_it_looks_at_a_near_miss_and_finds_nothing(name: str) -> None:
    quiet(name, CASES[name].near_miss)
