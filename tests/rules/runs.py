"""Every case of every rule, run once and shared by all tests of this folder; and edits of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from firstbreak import synth
from firstbreak.engine import Ending, Outcome, run_rules
from firstbreak.finding import Detection, Finding, Severity
from firstbreak.registry import all_rules, find_rule
from firstbreak.rule import Answer, Case, Expect, Rule
from firstbreak.runlog import RunLog
from firstbreak.series import Curve, Series
from firstbreak.view import RunView, _Cuts
from firstbreak.vocabulary import metrics, traits_of

RULES: tuple[Rule, ...] = all_rules()


@dataclass(frozen=True)
class Named:
    """A case with its rule; `str` is the test's id."""

    rule: str
    index: int

    @property
    def of(self) -> Rule:
        return find_rule(self.rule)

    @property
    def case(self) -> Case:
        return self.of.cases[self.index]

    def __str__(self) -> str:
        return f"{self.rule}:{self.case.name}"


CASES: tuple[Named, ...] = tuple(Named(r.name, i) for r in RULES for i in range(len(r.cases)))
FIRING: tuple[Named, ...] = tuple(c for c in CASES if c.case.expect is Expect.FIRES)
QUIET: tuple[Named, ...] = tuple(c for c in CASES if c.case.expect is not Expect.FIRES)


@cache
def log_of(named: Named) -> RunLog:
    """The run of a case."""
    return named.case.run()


@cache
def outcome_of(named: Named) -> Outcome:
    """What the case's own rule says of it."""
    return judge(named.of, log_of(named))


def judge(rule: Rule, log: RunLog) -> Outcome:
    """Run one rule the way `diagnose` does."""
    return run_rules(log, [rule])[0]


def fired(outcome: Outcome) -> bool:
    """Whether the rule fired; a rule that failed fails the test."""
    assert outcome.status is not Ending.ERROR, f"{outcome.rule.name}: {outcome.reason}"
    return outcome.status is Ending.FIRED


def loud(findings: tuple[Finding, ...]) -> bool:
    """Whether anything at warning or above was found."""
    return any(f.severity.rank >= Severity.WARNING.rank for f in findings)


@cache
def healthy_log(algorithm: str, seed: int, n: int) -> RunLog:
    """The healthy run of an algorithm."""
    return synth.like(algorithm, seed=seed, n=n)()


def read_by(rule: Rule, log: RunLog) -> frozenset[str]:
    """The metrics that `rule` asked for while it judged `log`, and those it declares."""
    asked: set[str] = set(rule.metrics)
    original = _Cuts.__missing__  # asked once of each metric, scope and view

    def spying(cuts: _Cuts, metric: str) -> Any:
        asked.add(metric)
        return original(cuts, metric)

    def detect(view: RunView, params: Any) -> Answer:
        _Cuts.__missing__ = spying  # type: ignore[method-assign]
        try:
            answer = rule.detect(view, params)
        finally:
            _Cuts.__missing__ = original  # type: ignore[method-assign]
        if isinstance(answer, Detection):
            asked.add(answer.metric)
        return answer

    outcome = judge(replace(rule, detect=detect), log)
    assert outcome.status is not Ending.ERROR, outcome.reason
    return frozenset(asked)


def edited(log: RunLog, change: Callable[[Series], Series | None]) -> RunLog:
    """`log` with every series changed, or dropped where `change` returns None."""
    return replace(log, series=tuple(s for s in map(change, log.series) if s is not None))


def without(log: RunLog, *dropped: str) -> RunLog:
    """`log` without some metrics."""
    return edited(log, lambda s: None if s.metric in dropped else s)


def revalued(series: Series, step: np.ndarray, value: np.ndarray) -> Series:
    """`series` with other points."""
    return replace(series, curve=Curve(step, value))


REWARD_KEYS = ("reward_min", "reward_max")


def rescaled(log: RunLog, factor: float) -> RunLog:
    """`log` as if every reward had been `factor` times as large."""

    def change(series: Series) -> Series:
        spec = metrics().get(series.metric)
        unit = spec.unit if spec else ""
        if series.metric == "policy/loss" and "q_function" in traits_of(log.algorithm):
            unit = "reward"  # the loss of a Q-maximising actor is -Q
        if not unit.startswith("reward"):
            return series
        power = 2 if unit == "reward^2" else 1
        return revalued(series, series.step, series.value * factor**power)

    config = {k: v * factor if k in REWARD_KEYS and v is not None else v for k, v in log.config.items()}
    return replace(edited(log, change), config=config)


def followed_by_its_opening(log: RunLog, rows: int) -> RunLog:
    """`log` continued for `rows` rows by the values it began with."""

    def change(series: Series) -> Series:
        if len(series) < 2:
            return series
        pace = float(np.median(np.diff(series.step))) or 1.0
        more = series.step[-1] + pace * np.arange(1, rows + 1)
        opening = np.resize(series.value[: max(len(series) // 10, 1)], rows)
        return revalued(series, np.concatenate([series.step, more]), np.concatenate([series.value, opening]))

    return replace(edited(log, change), clocks=None)
