"""Which rules are asked at a look: none of those that cannot have more to say than at the last one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from firstbreak import Monitor, engine
from firstbreak.monitor import judge
from firstbreak.monitor.judge import Judge, Seen
from firstbreak.registry import find_rule
from firstbreak.rule import Rule, Status
from firstbreak.runlog import RunLog
from firstbreak.view import RunView

ROWS = 40


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often it was asked of each rule why it cannot look."""
    found: Counter[str] = Counter()

    def counted(rule: Rule, view: RunView) -> object:
        found[rule.name] += 1
        return engine.why_not(rule, view)

    monkeypatch.setattr(judge, "why_not", counted)
    return found


def fed(monitor: Monitor, rows: int, repeats: int = 1) -> None:
    for i in range(rows * repeats):
        monitor.log({"policy/kl_old": 0.01 + 0.001 * (i % 3), "policy/entropy": 0.6 - 0.001 * i}, step=i // repeats)


def test_a_rule_that_needs_more_points_is_asked_again_when_it_can_have_them(asked: Counter[str]) -> None:
    monitor = Monitor(None, algorithm="PPO", time_share=float("inf"))  # looks at every row
    fed(monitor, ROWS)
    states = monitor._looks._judge.states
    needy = [name for name, s in states.items() if s.looked and 1 < s.rule.min_points <= ROWS]
    assert len(needy) >= 3
    assert {name: asked[name] for name in needy} == dict.fromkeys(needy, 2)  # at first, and when it had enough
    never = [name for name, s in states.items() if s.rule.min_points > ROWS and asked[name]]
    assert never
    assert {name: asked[name] for name in never} == dict.fromkeys(never, 1)


@pytest.mark.parametrize("repeats", [1, 3])
def test_whatever_was_not_asked_the_end_says_what_the_post_mortem_says(repeats: int) -> None:
    monitor = Monitor(None, algorithm="PPO")
    fed(monitor, ROWS, repeats)
    monitor.diagnosis()
    log = monitor.run_log()
    outcomes = {o.rule.name: o for o in engine.run_rules(log, [s.rule for s in monitor._looks._judge.states.values()])}
    for name, outcome in {o.rule.name: o for o in monitor._looks._judge.outcomes()}.items():
        assert (outcome.status, outcome.reason) == (outcomes[name].status, outcomes[name].reason), name


def test_between_the_ticks_nobody_asks_a_rule_in_preview_what_only_a_note_could_say() -> None:
    rules = [find_rule("critic-leaves-past"), find_rule("q-divergence")]
    assert [rule.status for rule in rules] == [Status.PREVIEW, Status.STABLE]
    metrics = [metric for rule in rules for metric in rule.metrics]
    assert [rule.name for rule in Judge(rules).concerned(metrics, 0, at_all=())] == ["q-divergence"]


def test_rules_that_name_no_metric_are_asked_at_the_row_or_once_it_lasts() -> None:
    judge = Judge([find_rule("discount-out-of-range"), find_rule("critic-moves-at-once"), find_rule("q-divergence")])
    ways: tuple[tuple[bool, ...], ...] = ((), (True,), (False,))
    asked = {at_all: [rule.name for rule in judge.concerned((), 0, at_all=at_all)] for at_all in ways}
    assert asked == {(): [], (True,): ["discount-out-of-range"], (False,): ["critic-moves-at-once"]}


def test_a_break_of_several_kinds_is_told_as_soon_as_it_lasts() -> None:
    """Row 75 lies between the ticks of rows 69 and 87; the rule asks for three rows, the guard for one look more."""
    chance = np.random.default_rng(0)
    monitor = Monitor(None, algorithm="PPO", clock="updates", timer=iter(range(10**6)).__next__)
    for row in range(1, 81):
        loss, fit = (900.0, -0.8) if row >= 75 else (30.0, 0.9)
        noise = 1 + 0.02 * chance.normal(size=2)
        monitor.log({"critic/loss": loss * noise[0], "critic/explained_variance": fit * noise[1]}, step=row)
    assert [alarm.row for alarm in monitor.alarms if alarm.finding.name == "critic-moves-at-once"] == [78]


def test_what_fired_once_is_asked_again_at_the_next_row_and_not_at_the_next_tick() -> None:
    """The fit is lost at row 60 and the rule says so at the tick of row 69; what is ordinary asks for no look."""
    monitor = Monitor(None, algorithm="PPO", clock="updates", timer=iter(range(10**6)).__next__)
    monitor._looks._screens.odd = lambda keys, row: []  # type: ignore[method-assign]
    looks: list[tuple[int, set[str]]] = []
    ask = monitor._looks._judge.look

    def asked(log: RunLog, version: int, rules: list[Rule], rows: float) -> list[Seen]:
        looks.append((monitor.rows, {rule.name for rule in rules}))
        return ask(log, version, rules, rows)

    monitor._looks._judge.look = asked  # type: ignore[method-assign, assignment]
    chance = np.random.default_rng(0)
    for row in range(1, 90):
        loss, fit = (900.0, -0.8) if row >= 60 else (30.0, 0.9)
        noise = 1 + 0.02 * chance.normal(size=2)
        monitor.log({"critic/loss": loss * noise[0], "critic/explained_variance": fit * noise[1]}, step=row)
    assert [row for row, _ in looks if 69 <= row < 87] == [69, 70]
    assert "critic-moves-at-once" in dict(looks)[70]
    assert len(dict(looks)[70]) < 12
    assert [alarm.row for alarm in monitor.alarms if alarm.finding.name == "critic-moves-at-once"] == [70]
