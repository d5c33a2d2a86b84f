"""The user's policy once it was used: late and rare metrics, exceptions from `*`, and what is said of it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from firstbreak import Monitor
from firstbreak.monitor import Notice, Verdict, guard
from firstbreak.monitor.adapters.parts.obeying import give_up


def silent(**options: Any) -> Monitor:
    return Monitor(None, algorithm="PPO", clock="updates", now=lambda: 0.0, time_share=math.inf, **options)


def row(kl: float = 0.01, **more: float) -> dict[str, float]:
    return {"policy/kl_old": kl, "policy/clip_fraction": 0.1, "policy/entropy": 0.6, **more}


def sb3(kls: list[float]) -> list[Verdict]:
    """Verdicts on rows of Stable-Baselines3's own logger, which tells of an update in the row after it."""
    monitor = silent(framework="stable_baselines3", act={"kl-overshoot": "stop_update"})
    return [monitor.log({"train/approx_kl": kl, "train/clip_fraction": 0.1}, step=i) for i, kl in enumerate(kls)]


def test_what_is_logged_a_row_late_is_left_out_every_time() -> None:
    """Its point lies before the row that holds it, and it is the point that must be out of sight."""
    spikes = {100, 150, 151, 200, 205, 210}
    verdicts = sb3([5.0 if i in spikes else 0.01 for i in range(220)])
    assert [i for i, v in enumerate(verdicts) if v.stop_update] == [100, 150, 200, 205, 210]
    assert all(len(v.alarms) == 1 for v in verdicts if v.stop_update), "one finding is one alarm of its row"
    lasts = sb3([0.01 if i < 100 else 5.0 for i in range(220)])
    assert [i for i, v in enumerate(lasts) if v.stop_update] == [100]


def test_what_is_logged_now_and_then_is_left_out_every_time() -> None:
    """All rules look at rows that do not hold the metric, too: nothing is left out of sight there."""
    monitor = silent(act={"*": "stop_update"})
    rows = [{"policy/entropy": 0.6} if i % 4 else row(9.0 if i in (100, 140, 180) else 0.01) for i in range(200)]
    assert [i for i, one in enumerate(rows) if monitor.log(one, step=i).stop_update] == [100, 140, 180]


@pytest.mark.parametrize("name", ["kl-overshoot", "policy_update"])
def test_continue_for_a_rule_or_a_link_is_an_exception_from_everything(name: str) -> None:
    monitor = silent(act={"*": "stop_training", name: "continue"})
    assert all(monitor.log(row(0.01 if i < 20 else 9.0), step=i).proceed for i in range(25))
    assert "kl-overshoot" in {a.finding.name for a in monitor.alarms}
    broken = [monitor.log(row(**{"policy/loss": math.nan}), step=25 + i) for i in range(8)]
    assert broken[-1].stop_training, "everything else is acted on"


def test_alerts_that_are_kept_back_because_there_were_many_are_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "ALERTS_AN_HOUR", 1)
    notices: list[Notice] = []
    monitor = silent(alerts=[notices.append])
    broken = {"policy/kl_old": 9.0, "policy/entropy": 1e-6, "policy/loss": math.nan}
    for i in range(60):
        monitor.log(row(**{"policy/loss": 0.1}) | (broken if i >= 30 else {}), step=i)
    monitor.close()
    assert len(notices) == 1 < len(monitor.alarms)
    assert [said for said in monitor.faults if said.startswith("1 alerts within an hour")] == monitor.faults


def test_a_training_that_ends_is_not_said_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = silent()
    give_up(monitor, "No checkpoint is left.\nThere was one.")
    monitor.fault("a disk is full")
    assert capsys.readouterr().err.splitlines() == [
        "firstbreak monitor: training ends, as it cannot be rolled back: No checkpoint is left. There was one.",
        "firstbreak monitor: a disk is full (training goes on)",
    ]
