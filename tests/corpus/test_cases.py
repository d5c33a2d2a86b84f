"""Reported cases: the three figures may not fall below what was published last (docs/figures.md)."""

from __future__ import annotations

import pytest

from .cases import Score, read_cases, score

FLOORS = {"decidable": 0.85, "extra": 0.85, "healthy": 1.0}


@pytest.fixture(scope="module")
def scores() -> dict[str, Score]:
    return score()


@pytest.mark.parametrize("figure", sorted(FLOORS))
def test_figure(scores: dict[str, Score], figure: str) -> None:
    got = scores[figure]
    assert got.right >= FLOORS[figure] * got.total, f"{figure}: {got}, wrong: {got.wrong}"


def test_every_case_that_needs_evidence_says_which() -> None:
    assert all(case.wants for case in read_cases() if not case.decidable)
