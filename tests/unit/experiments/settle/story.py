"""Runs whose causes are known rivals, and results of experiments on them."""

from __future__ import annotations

from typing import Any

from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis
from firstbreak.experiments.plan import Plan
from firstbreak.experiments.result import Outcome, Result, Why
from firstbreak.experiments.subject import Subject
from firstbreak.registry import find_rule


def case_of(rule: str, number: int = 0) -> Diagnosis:
    """The diagnosis of a run on which this rule fires."""
    return diagnose_log(find_rule(rule).cases[number].run(), Settings())


def result(
    name: str,
    outcome: Outcome = Outcome.CONFIRMED,
    *,
    why: Why | None = None,
    needed: int | None = None,
    given: dict[str, Any] | None = None,
) -> Result:
    made = Plan(
        experiment=name,
        subject=Subject("train.py:train", given=given or {}),
        hypothesis="h",
        prediction="p",
        changes="x",
        control={"x": 0},
        changed={"x": 1},
        first_seed=0,
        pilot=5,
        most=20,
        alpha=0.05,
        power=0.8,
        confirms="above",
        unit="return",
        margin=1.0,
        runs=2.0,
        cost="two trainings",
    )
    default = Why.TOO_FEW_SEEDS if outcome is Outcome.INCONCLUSIVE else Why.DECIDED
    return Result(made, outcome, why or default, "As it was measured.", seeds_needed=needed)
