"""Planted reward bugs, their cases and what is expected of them belong together; the quick ones are tried."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from firstbreak.preflight.shaping import check_term
from firstbreak.preflight.task.api import inspect_task
from tests.preflight.planted.reward_cases import CASES, RewardCase, load

PLANTED = Path(__file__).resolve().parents[2] / "preflight" / "planted"
BUGS: list[dict[str, Any]] = tomllib.loads((PLANTED / "reward.toml").read_text("utf-8"))["bug"]
EXPECTED: dict[str, list[str]] = tomllib.loads((PLANTED / "expected.toml").read_text("utf-8"))["reward"]
load()
QUICK = [k for k, make in CASES.items() if "shapings" in make.__module__ or k[0].startswith("trained-")]


def test_every_listed_bug_and_twin_is_made() -> None:
    listed = {(b["id"], "bug") for b in BUGS} | {(b["id"], "twin") for b in BUGS if b.get("harmless_twin")}
    assert set(CASES) == listed
    assert set(EXPECTED) == {b["id"] for b in BUGS}


def found_in(case: RewardCase) -> set[str]:
    """Faults of a shaping term, or names of findings at warning or above."""
    if case.shaping is None:
        return {f.name for f in inspect_task(**case.returns).findings if f.severity.rank}
    term = case.shaping
    found = check_term(term.term, term.steps, term.gamma, potential=term.potential, dynamic=term.dynamic)
    return {f.name for f in found.faults}


@pytest.mark.parametrize("key", QUICK, ids="-".join)
def test_what_is_neither_played_nor_read_is_told(key: tuple[str, str]) -> None:
    found = found_in(CASES[key]())
    assert bool(found & set(EXPECTED[key[0]])) == (key[1] == "bug")
    assert bool(found) == (key[1] == "bug")
