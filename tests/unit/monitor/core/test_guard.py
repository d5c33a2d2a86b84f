"""The user's policy: nothing by default, what is asked for at the row it is seen, one alert for one cause."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from firstbreak import Monitor
from firstbreak.config import Ignore, Settings
from firstbreak.engine import ticks
from firstbreak.monitor import Action, Alarm, Notice
from firstbreak.monitor.attention import SETTLED, Screens
from firstbreak.monitor.guard import ALERTS_AN_HOUR
from firstbreak.monitor.schedule import Schedule


class Store:
    """Stands for a store of checkpoints: it writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def broke(self, at: float) -> None:
        self.told.append(at)

    def mended(self) -> None:
        self.told.append("mended")


def row(kl: float = 0.01, **more: float) -> dict[str, float]:
    return {"policy/kl_old": kl, "policy/clip_fraction": 0.1, "policy/entropy": 0.6, **more}


def silent(**options: Any) -> Monitor:
    return Monitor(None, algorithm="PPO", clock="updates", **{"now": lambda: 0.0, "time_share": math.inf} | options)


def fed(monitor: Monitor, kls: list[float], start: int = 0) -> list[Any]:
    return [monitor.log(row(kl), step=start + i) for i, kl in enumerate(kls)]


def test_nothing_is_done_by_default() -> None:
    monitor = silent()
    verdicts = fed(monitor, [0.01] * 10 + [9.0] * 3)
    assert monitor.alarms
    assert all(v.proceed for v in verdicts)


@pytest.mark.parametrize("name", ["kl-overshoot", "POL001", "policy_update", "*"])
@pytest.mark.parametrize("action", ["stop_update", "stop_training", "roll_back"])
def test_an_action_comes_with_the_row_that_shows_it(name: str, action: str) -> None:
    monitor = silent(act={name: action}, time_share=0.0)
    calm = fed(monitor, [0.01] * 100)
    assert all(v.proceed for v in calm)
    verdict = monitor.log(row(9.0), step=100)
    assert verdict.action == Action(action)
    assert verdict.stop_update
    assert (verdict.stop_training, verdict.roll_back) == (action == "stop_training", action == "roll_back")
    assert "kl-overshoot" in {a.finding.name for a in verdict.alarms}


def test_stopping_is_for_good_and_leaving_out_is_not() -> None:
    stopped = silent(act={"kl-overshoot": "stop_training"})
    fed(stopped, [0.01] * 20 + [9.0])
    assert all(v.stop_training for v in fed(stopped, [0.01] * 5, start=21))
    left_out = silent(act={"kl-overshoot": "stop_update"})
    fed(left_out, [0.01] * 20 + [9.0])
    assert not any(v.stop_training for v in fed(left_out, [0.01] * 5, start=21))


def test_warm_up_keeps_trends_quiet_and_hard_bounds_loud() -> None:
    monitor = silent(warm_up=50)
    fed(monitor, [0.01] * 5 + [9.0] * 5)
    assert [a.finding.name for a in monitor.alarms] == ["kl-overshoot"]
    assert monitor.alarms[0].finding.static


def test_a_trend_at_warning_needs_two_looks_in_a_row() -> None:
    def grown(**options: Any) -> list[Alarm]:
        monitor = silent(**options)
        for i in range(150):
            gradient = (1.0 if i < 80 else 90.0) * (1 + 0.05 * (i % 5))
            monitor.log(row(0.01, **{"optim/grad_norm": gradient}), step=i)
        return [a for a in monitor.alarms if a.finding.name == "grad-norm-explosion"]

    (first,) = grown()
    assert first.finding.severity.value == "warning"
    assert first.row > 81
    (later,) = grown(time_share=0.0)  # the same rows, seen at fewer looks
    assert later.row >= first.row


def test_one_finding_is_one_alarm_and_one_cause_one_alert() -> None:
    notices: list[Notice] = []
    monitor = silent(alerts=[notices.append])
    for i in range(200):
        monitor.log(row(0.01 if i < 20 else 9.0, **{"policy/clip_fraction": 0.1 if i < 20 else 0.95}), step=i)
    monitor.close()
    names = [a.finding.name for a in monitor.alarms]
    assert len(names) == len(set(names)) > 1
    told = [a for a in monitor.alarms if a.alerted]
    assert len(notices) == len(told)
    assert len({a.cause for a in told}) == len(told)


def test_alerts_are_limited_by_the_hour() -> None:
    guard = silent()._looks._guard
    finding = silent_finding()
    sent = [guard._tell(replace(finding, name=f"n{i}"), f"cause-{i}", False, 10.0) for i in range(3 * ALERTS_AN_HOUR)]
    assert sum(sent) == ALERTS_AN_HOUR
    assert guard._tell(finding, "later", False, 4000.0)


def silent_finding() -> Any:
    monitor = silent()
    fed(monitor, [0.01] * 20 + [9.0])
    return monitor.alarms[0].finding


def test_what_the_user_ignores_raises_nothing() -> None:
    ignored = Settings(ignore=(Ignore("kl-overshoot", "a test", expires=date(2999, 1, 1)),))
    monitor = silent(settings=ignored, act={"*": "stop_training"})
    assert all(v.proceed for v in fed(monitor, [0.01] * 20 + [9.0] * 3))
    assert monitor.alarms == []


def test_checkpoints_hear_where_it_broke_and_that_it_mended() -> None:
    store = Store()
    monitor = silent(checkpoints=store)
    fed(monitor, [0.01] * 20 + [9.0])
    assert store.told[0] <= 20
    assert monitor.alarms[0].finding.onset.lo == store.told[0]


def test_a_roll_back_takes_history_and_alarms_back() -> None:
    store = Store()
    monitor = silent(act={"kl-overshoot": "roll_back"}, checkpoints=store)
    fed(monitor, [0.01] * 20 + [9.0])
    monitor.rolled_back(15)
    assert all(v.proceed for v in fed(monitor, [0.01] * 10, start=15))
    assert max(monitor.run_log().series[0].step) == 24
    assert not [f for f in monitor.diagnosis().findings if f.name == "kl-overshoot"]
    again = monitor.log(row(9.0), step=25)
    assert again.roll_back
    assert isinstance(again.alarms[0], Alarm)


def test_without_spare_time_the_rules_look_at_the_ticks_of_the_post_mortem() -> None:
    import numpy as np

    schedule = Schedule(0.0, lambda: 0.0)
    schedule.looked(0.0, full=True)
    looks = []
    for count in range(1, 3001):
        schedule._spent = 1.0  # some time was spent: nothing is left of a share of nothing
        if schedule.full(count):
            looks.append(float(count))
    rows = np.arange(1.0, 3001.0)
    assert looks == ticks(rows)[:-1]


@pytest.mark.parametrize("cost", [0.001, 0.05])
def test_further_looks_keep_to_their_share_of_the_time(cost: float) -> None:
    now = [0.0]
    schedule = Schedule(0.01, lambda: now[0])
    spent, ticked = 0.0, 0
    for count in range(1, 5001):
        now[0] += 0.02
        if schedule.full(count):
            ticked += 1
            spent += cost
            now[0] += cost
            schedule.looked(cost, full=True)
    plain = len(ticks(__import__("numpy").arange(1.0, 5001.0)))
    assert spent <= 0.01 * now[0] + (plain + 1) * cost
    assert ticked >= plain - 1


def test_attention_is_drawn_by_what_is_new_in_kind() -> None:
    screens, keys = Screens(), ("a", "b")
    for i in range(3 * SETTLED):
        assert screens.odd(keys, [1.0 + 0.1 * (i % 3), 5.0 + (i % 2)]) == []
    assert screens.odd(keys, [9.0, 5.0]) == ["a"]
    assert screens.odd(keys, [9.0, 5.0]) == []
    assert screens.odd(keys, [1.0, math.nan]) == ["b"]
    assert screens.odd(keys, [1.0, math.nan]) == []
    assert screens.odd(keys, [1.0, math.inf]) == []


def test_attention_remembers_a_key_whatever_it_is_logged_with() -> None:
    screens = Screens()
    for i in range(3 * SETTLED):
        assert screens.odd(("a", "b"), [0.0, float(i % 2)]) == []
    assert screens.odd(("c", "a"), [7.0, 1.0]) == ["a"]


@pytest.mark.parametrize("share", [0.0, math.inf])
def test_a_jump_is_seen_at_its_row_whatever_time_there_is(share: float) -> None:
    monitor = silent(time_share=share)
    fed(monitor, [0.01] * 300 + [9.0])
    assert [(a.finding.name, a.row) for a in monitor.alarms] == [("kl-overshoot", 301)]
