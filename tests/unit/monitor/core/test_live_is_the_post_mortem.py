"""A live alarm is what the rule says of the prefix; at the end the monitor holds what `diagnose` finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.config import Settings, chosen_rules
from firstbreak.engine import run_rule, run_rules
from firstbreak.loading import load
from firstbreak.monitor import Monitor
from firstbreak.runlog import RunLog
from firstbreak.view import RunView
from firstbreak.window import cut

LOGS = Path(__file__).parents[3] / "data" / "logs"
RULES = chosen_rules(Settings())


def rows_of(log: RunLog) -> dict[float, dict[str, float]]:
    """Return the canonical rows of `log` by step, members of a family as metric@member."""
    found: dict[float, dict[str, float]] = {}
    for series in log.series:
        key = f"{series.metric}@{series.scope.component}" if series.scope.component else series.metric
        for step, value in zip(series.step, series.value, strict=True):
            found.setdefault(float(step), {})[key] = float(value)
    return dict(sorted(found.items()))


def guarded(log: RunLog, **options: Any) -> Monitor:
    """Replay `log`, row by row."""
    names = {key: key for row in rows_of(log).values() for key in row}
    monitor = Monitor(
        None, algorithm=log.algorithm, config=dict(log.config), clock=log.clock, names=names, now=lambda: 0.0, **options
    )
    for step, row in rows_of(log).items():
        monitor.log(row, step=step)
    assert monitor.faults == []
    return monitor


def of_one_process(log: RunLog) -> bool:
    """Whether one monitor could have been given this: no other ranks or policies, no metrics declared in settings."""
    return not any((str(s.scope) and not s.scope.component) or s.custom for s in log.series)


CASES = [
    (rule.name, case.name, case.run)
    for rule in RULES
    for case in rule.cases
    if case.expect == "fires" and of_one_process(case.run())
]


@pytest.mark.parametrize(("rule", "case", "build"), CASES[::6], ids=[f"{r}-{c}" for r, c, _ in CASES[::6]])
def test_the_monitor_ends_with_what_the_rules_find_of_the_whole_run(rule: str, case: str, build: Any) -> None:
    log = build()
    monitor = guarded(log, time_share=0.0)
    monitor.close()
    live = monitor.run_log()
    outcomes = {o.rule.name: o for o in run_rules(live, RULES)}
    held = {f.name for f in monitor.diagnosis().findings}
    assert held >= {f.name for o in outcomes.values() for f in o.findings}


@pytest.mark.parametrize("name", ["sb3_ppo_lr01", "sb3_sac_pendulum_rx1000", "trl_grpo_collapse"])
@pytest.mark.parametrize("share", [0.0, float("inf")], ids=["ticks", "every row"])
def test_an_alarm_is_what_the_rule_says_of_the_prefix(name: str, share: float) -> None:
    log = load(LOGS / name)
    monitor = guarded(log, time_share=share)
    assert monitor.alarms
    for alarm in monitor.alarms:
        rule = next(r for r in RULES if r.name == alarm.finding.name)
        prefix = cut(log, hi=alarm.at)
        running = RunLog(
            path=log.path, series=prefix.series, config=log.config, framework=log.framework, algorithm=log.algorithm,
            clock=log.clock, clocks=log.clocks, state="running",
        )  # fmt: skip
        outcome = run_rule(rule, [RunView(running)])
        assert [f.message for f in outcome.findings] == [alarm.finding.message]


def test_a_healthy_run_raises_nothing_at_any_row() -> None:
    monitor = guarded(synth.like("PPO")(), time_share=float("inf"))
    assert monitor.alarms == []
    assert str(monitor.diagnosis().verdict) == "healthy"


def test_the_prefix_a_rule_sees_live_is_the_prefix_it_sees_later() -> None:
    log = synth.like("PPO")()
    names = {key: key for row in rows_of(log).values() for key in row}
    monitor = Monitor(None, algorithm="PPO", config=dict(log.config), clock=log.clock, names=names, time_share=0.0)
    for count, (step, row) in enumerate(rows_of(log).items()):
        monitor.log(row, step=step)
        if count % 23 == 0:
            live, later = RunView(monitor.run_log()), RunView(cut(log, hi=step))
            for metric in log.metrics:
                a, b = live.get(metric), later.get(metric)
                assert (a is None) == (b is None)
                if a is not None and b is not None:
                    np.testing.assert_array_equal(a.value, b.value)
                    assert (a.total, a.max, a.min) == (b.total, b.max, b.min)


@pytest.mark.parametrize("share", [0.0, float("inf")])
def test_rows_that_hold_different_keys_keep_their_order(share: float) -> None:
    monitor = Monitor(None, algorithm="PPO", clock="updates", time_share=share, now=lambda: 0.0)
    for i in range(100):
        more = {"reward/env_mean": float(i)} if i % 3 == 0 else {}
        less = {} if i % 5 == 0 else {"policy/entropy": 100.0 - i}
        monitor.log({"policy/kl_old": i / 100, **more, **less}, step=i)
    log = monitor.run_log()
    for metric, steps in (
        ("policy/kl_old", range(100)),
        ("reward/env_mean", range(0, 100, 3)),
        ("policy/entropy", [i for i in range(100) if i % 5]),
    ):
        series = log.get(metric)
        assert series is not None
        assert series.step.tolist() == list(steps)
