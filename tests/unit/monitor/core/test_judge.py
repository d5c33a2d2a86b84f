"""Which rules are asked at a look: none of those that cannot have more to say than at the last one."""

from __future__ import annotations

from collections import Counter

import pytest

from firstbreak import Monitor, engine
from firstbreak.monitor import judge
from firstbreak.monitor.judge import Judge
from firstbreak.registry import find_rule
from firstbreak.rule import Rule, Status
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
    assert [rule.name for rule in Judge(rules).concerned(metrics, 0, at_all=True)] == ["q-divergence"]
