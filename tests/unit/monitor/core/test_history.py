"""What the history hands to the rules at every row is made anew only where something came."""

from __future__ import annotations

import math

from firstbreak.monitor.history import History


def fed(rows: int = 20) -> History:
    history = History("", algorithm="PPO", clock="updates")
    for step in range(rows):
        history.add(("policy/kl_old", "policy/entropy"), [0.01 + step, 1.0], float(step), 0.0)
        history.add(("critic/loss",), [0.5], float(step), 0.0)
    return history


def by_metric(history: History) -> dict[str, object]:
    return {series.metric: series for series in history.log().series}


def test_only_what_was_logged_is_made_anew() -> None:
    history = fed()
    before = by_metric(history)
    assert before == by_metric(history)
    assert all(a is by_metric(history)[m] for m, a in before.items())
    history.add(("critic/loss",), [0.25], 20.0, 0.0)
    after = by_metric(history)
    assert after["policy/kl_old"] is before["policy/kl_old"]
    assert after["critic/loss"].value[-1] == 0.25  # type: ignore[attr-defined]


def test_roll_backs_are_seen() -> None:
    history = fed()
    before = by_metric(history)
    history.cut(10.0)
    after = by_metric(history)
    for metric, series in before.items():
        assert after[metric] is not series
        assert after[metric].step[-1] == 10.0  # type: ignore[attr-defined]


def test_settings_that_may_change_a_meaning_make_all_anew() -> None:
    history = fed()
    before = by_metric(history)
    history.configure({"gamma": 0.9})
    after = by_metric(history)
    assert before.keys() == after.keys()
    assert all(after[metric] is not series for metric, series in before.items())


def test_what_is_not_finite_keeps_its_place() -> None:
    history = fed()
    history.add(("policy/kl_old", "policy/entropy"), [math.nan, 1.0], 20.0, 0.0)
    history.add(("policy/kl_old", "policy/entropy"), [7.0, 1.0], 21.0, 0.0)
    series = by_metric(history)["policy/kl_old"]
    assert series.step.tolist() == [float(step) for step in range(22)]  # type: ignore[attr-defined]
    assert math.isnan(series.value[20])  # type: ignore[attr-defined]
    assert series.value[21] == 7.0  # type: ignore[attr-defined]
