"""Runs whose causes are known rivals, and results of experiments on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis
from firstbreak.experiments.experiment import Pair
from firstbreak.experiments.judging import look
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
    found = Result(made, outcome, why or default, "As it was measured.", seeds_needed=needed)
    return with_numbers(found) if found.why is Why.DECIDED else found


def with_numbers(found: Result) -> Result:
    """Add pairs of seeds from which the verdict follows: effects of 2 or 0 against a margin of 1."""
    above = (found.outcome is Outcome.CONFIRMED) == (found.plan.confirms == "above")
    effects = (2.0, 2.1, 1.9) if above else (0.0, 0.1, -0.1)
    pairs = tuple(Pair(seed, {"score": 0.0}, {"score": effect}) for seed, effect in enumerate(effects))
    return replace(found, pairs=pairs, effects=effects, margin=1.0, looks=(look(effects, 1.0, 0.05),))
