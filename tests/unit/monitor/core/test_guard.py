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
from firstbreak.monitor import Action, Alarm, Notice, rearmed
from firstbreak.monitor.attention import Screens
from firstbreak.monitor.guard import ALERTS_AN_HOUR
from firstbreak.monitor.ranges import SETTLED
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


def left_out(values: list[float], act: str = "kl-overshoot", metric: str = "policy/kl_old") -> list[int]:
    """Return the rows whose update is left out."""
    monitor = silent(act={act: "stop_update"})
    verdicts = [monitor.log({**row(), metric: value}, step=i) for i, value in enumerate(values)]
    assert monitor.faults == []
    assert all(v.alarms for v in verdicts if v.stop_update)
    told = [a.finding.severity for a in monitor.alarms if a.alerted and a.finding.name == act]
    assert len(told) == len(set(told)), "what is acted on again is told once, unless it is graver"
    return [i for i, v in enumerate(verdicts) if v.stop_update]


def test_every_single_bad_update_is_left_out_however_late() -> None:
    spikes = {30, 31, 90, 400, 1900}
    assert left_out([9.0 if i in spikes else 0.01 for i in range(2000)]) == [30, 90, 400, 1900]
    losses = [math.nan if i in spikes - {31} else 0.5 for i in range(500)]
    assert left_out(losses, "nonfinite-metric", "policy/loss") == [30, 90, 400]


@pytest.mark.parametrize("act", ["POL001", "policy_update", "*"])
def test_however_the_rule_was_named(act: str) -> None:
    monitor = silent(act={act: "stop_update"})
    verdicts = fed(monitor, [9.0 if i in (30, 90) else 0.01 for i in range(120)])
    assert [i for i, v in enumerate(verdicts) if v.stop_update] == [30, 90]


def test_what_lasts_leaves_one_update_out_and_not_the_whole_run() -> None:
    assert left_out([0.01] * 20 + [9.0] * 300) == [20]
    assert left_out([0.01] * 20 + [9.0] * 30 + [0.01] * 5 + [9.0] * 30) == [20, 55]


def test_after_many_bad_updates_the_next_is_still_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rearmed, "MOST_STRETCHES", 3)
    assert left_out([9.0 if i % 10 == 9 else 0.01 for i in range(100)]) == list(range(9, 100, 10))


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
    screens, keys = Screens({"a", "b"}), ("a", "b")
    for i in range(3 * SETTLED):
        assert screens.odd(keys, [1.0 + 0.1 * (i % 3), 5.0 + (i % 2)]) == []
    assert screens.odd(keys, [9.0, 5.0]) == ["a"]
    assert screens.odd(keys, [9.0, 5.0]) == []
    assert screens.odd(keys, [1.0, math.nan]) == ["b"]
    assert screens.odd(keys, [1.0, math.nan]) == []
    assert screens.odd(keys, [1.0, math.inf]) == []


def test_attention_remembers_a_key_whatever_it_is_logged_with() -> None:
    screens = Screens({"a", "b", "c"})
    for i in range(3 * SETTLED):
        assert screens.odd(("a", "b"), [0.0, float(i % 2)]) == []
    assert screens.odd(("c", "a"), [7.0, 1.0]) == ["a"]


def test_attention_goes_to_what_is_kept_however_crowded_the_row() -> None:
    screens, crowd = Screens({"a", "b"}), tuple(f"m/{i}" for i in range(10_000))
    for i in range(3 * SETTLED):
        assert screens.odd(("b", *crowd, "a"), [1.0, *([-1.0] * 10_000), 0.1 * (i % 3)]) == []
    assert screens.odd((*crowd, "a"), [*([math.nan] * 10_000), 9.0]) == ["a"]
    assert screens.odd(("b", *crowd), [math.nan, *([math.inf] * 10_000)]) == ["b"]


@pytest.mark.parametrize("crowd", [["first"], ["new"], ["first", "new"]])
@pytest.mark.parametrize("bad", [9.0, math.nan])
def test_a_crowd_of_other_keys_hides_no_jump(crowd: list[str], bad: float) -> None:
    """Between two ticks and without time to look, only the screen can see it."""
    monitor = silent(time_share=0.0)
    for i in range(60):
        keys = [f"m/{k}" for k in range(5000)] if "first" in crowd else []
        keys += [f"m/{i}/{k}" for k in range(500)] if "new" in crowd else []
        monitor.log(dict.fromkeys(keys, 1.0) | row(bad if i == 59 else 0.01), step=i)
    assert [(a.finding.metric, a.row) for a in monitor.alarms] == [("policy/kl_old", 60)]


def test_other_keys_that_jump_all_the_time_use_up_no_look() -> None:
    monitor = silent(time_share=0.0)
    for i in range(291):
        wild = {f"m/{k}": -(3.0**i) if i % 20 == k else 1.0 for k in range(20)}
        monitor.log(row({200: 0.05, 290: 9.0}.get(i, 0.01), **wild), step=i)
    assert [(a.finding.name, a.row) for a in monitor.alarms] == [("kl-overshoot", 291)]


@pytest.mark.parametrize("share", [0.0, math.inf])
def test_a_jump_is_seen_at_its_row_whatever_time_there_is(share: float) -> None:
    monitor = silent(time_share=share)
    fed(monitor, [0.01] * 300 + [9.0])
    assert [(a.finding.name, a.row) for a in monitor.alarms] == [("kl-overshoot", 301)]


def test_what_stood_still_and_moves_is_odd_wherever_it_goes() -> None:
    screens, keys = Screens({"epsilon", "loss"}), ("epsilon", "loss")
    course = [1.0, 0.5, *[0.05] * 13, 1.0, 1.0, 0.9]
    odd = [screens.odd(keys, (epsilon, 0.1 + row % 7)) for row, epsilon in enumerate(course)]
    assert [row for row, found in enumerate(odd) if found] == [15]
    assert odd[15] == ["epsilon"]  # 1.0 lies within the range that it had; only its rest tells


def test_a_cause_that_comes_back_a_day_later_is_told_again_and_within_the_hour_it_is_not() -> None:
    now = [0.0]
    monitor = silent(now=lambda: now[0], act={"kl-overshoot": "stop_update"})
    fed(monitor, [0.01] * 20 + [9.0] * 3 + [0.01] * 9)
    now[0] = 3600.0
    fed(monitor, [9.0] * 3 + [0.01] * 9, start=32)
    now[0] = 86_400.0
    fed(monitor, [9.0] * 3, start=44)
    overshoots = [(alarm.wall, alarm.alerted) for alarm in monitor.alarms if alarm.finding.name == "kl-overshoot"]
    assert overshoots == [(0.0, True), (3600.0, False), (86_400.0, True)]


def test_a_clock_that_is_put_back_makes_nothing_news() -> None:
    now = [2 * 86_400.0]
    monitor = silent(now=lambda: now[0], act={"kl-overshoot": "stop_update"})
    fed(monitor, [0.01] * 20 + [9.0] * 3 + [0.01] * 9)
    now[0] = 0.0
    fed(monitor, [9.0] * 3, start=32)
    assert [a.alerted for a in monitor.alarms if a.finding.name == "kl-overshoot"] == [True, False]


def test_a_setting_that_moves_is_put_to_the_rules_that_name_no_metric() -> None:
    """`entropy-bonus-dominates` reads settings and what is logged of them; between two ticks nobody else asks it."""
    monitor = silent(time_share=0.0)
    for i in range(61):
        monitor.log(row(**{"policy/ent_coef": 10.0 if i == 60 else 0.01, "own/phase": float(i > 40)}), step=i)
    assert [(a.finding.name, a.row) for a in monitor.alarms] == [("entropy-bonus-dominates", 61)]
