"""Accuracy against coverage, against a slow twin on runs made up by Hypothesis, and on cases that are plain."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, permutations

from hypothesis import given, settings

from benchmarks.faults.scoring.answer import Answer
from benchmarks.faults.scoring.assessing import FIRSTBREAK, Assessed
from benchmarks.faults.scoring.catalogue import Fault
from benchmarks.faults.scoring.document import document_of
from benchmarks.faults.scoring.floors import HEALTHY, always
from benchmarks.faults.scoring.page import cell, table
from benchmarks.faults.scoring.selective import (
    COVERAGES,
    UNDECIDED,
    at_coverage,
    columns,
    curves,
    section,
    selective_area,
)

from .made import runs

CRITIC = Fault("f", "critic")


def right(run: Assessed) -> bool:
    said = run.answers[FIRSTBREAK]
    if said.confidence == 0:
        return False
    if run.fault is None:
        return said.verdict == "healthy" and len(said.alarms) == 0
    return bool(said.links) and said.links[0] in (run.fault.link, *run.fault.also_right)


def sure(run: Assessed) -> float:
    return run.answers[FIRSTBREAK].confidence


def slow_curve(many: list[Assessed]) -> list[float]:
    """Every order in which the answers can stand, those of one confidence in any; the mean of the curves."""
    orders = [order for order in permutations(many) if all(sure(a) >= sure(b) for a, b in pairwise(order))]
    return [
        sum(sum(right(run) for run in order[:most]) / most for order in orders) / len(orders)
        for most in range(1, len(many) + 1)
    ]


@given(runs)
@settings(max_examples=20, deadline=None)
def test_the_curve_is_the_mean_over_all_orders(many: list[Assessed]):
    area = selective_area(many, FIRSTBREAK)
    assert area.n == len(many)
    if not many:
        return
    slow = slow_curve(many)
    assert math.isclose(area.value, sum(slow) / len(slow), abs_tol=1e-12)
    for percent in (10, 50, 90, 100):
        most = next(k for k in range(1, len(many) + 1) if 100 * k >= percent * len(many))
        found = at_coverage(many, FIRSTBREAK, percent)
        assert math.isclose(found.value, slow[most - 1], abs_tol=1e-12)
        assert found.lo - 1e-9 <= found.hi


def run_of(said: Answer, fault: Fault | None = None) -> Assessed:
    return Assessed(
        id="r", subject="s", framework="sb3", algorithm="PPO", task="t", kind="fault" if fault else "healthy", seed=0,
        half="held", fault=fault, start=0.0, mid_run=False, end=10.0, cadence=1.0,
        answers={FIRSTBREAK: said, "always critic": always("critic"), "always healthy": HEALTHY},
    )  # fmt: skip


SURE, UNSURE = Answer("broken", (), ("critic",), confidence=2.9), Answer("broken", (), ("numerics",), confidence=2.1)
MANY = [
    *(run_of(SURE, CRITIC) for _ in range(5)),
    *(run_of(UNSURE, CRITIC) for _ in range(3)),
    *(run_of(Answer("undecided")) for _ in range(2)),
]


def test_accuracy_falls_as_less_sure_answers_and_abstentions_come_in():
    found = curves(MANY)
    assert [found[FIRSTBREAK][percent].value for percent in (10, 50, 80, 100)] == [1, 1, 5 / 8, 1 / 2]


def test_what_never_changes_is_as_right_at_every_coverage():
    found = curves(MANY)
    assert list(found) == columns(MANY) == [FIRSTBREAK, "always critic", "always healthy", UNDECIDED]
    for tool, level in (("always critic", 0.8), ("always healthy", 0.2), (UNDECIDED, 0.0)):
        assert all(math.isclose(found[tool][percent].value, level) for percent in COVERAGES)


def test_the_best_fixed_answer_stands_first():
    quiet = [replace(run, fault=None) for run in MANY]
    assert columns(quiet)[1] == "always healthy"


def test_the_curve_is_on_the_page_and_in_the_document():
    text = section(MANY, table, cell)
    assert "answers 8 of 10 runs, 5 rightly" in text
    assert text.count(" % |") >= len(COVERAGES)
    assert "| coverage | firstbreak | always critic | always healthy | always undecided |" in text
    assert document_of(MANY, "held")["selective"][FIRSTBREAK]["100"]["value"] == 0.5
