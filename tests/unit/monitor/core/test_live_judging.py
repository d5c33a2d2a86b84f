"""What the live campaign counts: in time, by chance, and named again without the first rows after the fault."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

from chance import probability, rate_at_most, unbroken, without_first
from figures import strictly, summary
from judging import CLOSE, judge
from rejudge import rejudged

BEGAN, ROWS, STEP = 600.0, 1000, 1.0
RIGHT = {"policy_update"}


def alarm(at: float, name: str = "lr-schedule-fault", link: str = "policy_update") -> dict[str, Any]:
    return {"at": at, "name": name, "link": link}


def run_of(alarms: list[dict[str, Any]], lost_at: float = 700.0, died: str = "", **more: Any) -> dict[str, Any]:
    """A run that learns, and loses all of it at `lost_at`."""
    rng = np.random.default_rng(0)
    returns = [min(200.0, 20 + step) if step < lost_at else 5.0 for step in range(1, ROWS + 1)]
    return {
        "subject": "ppo", "fault": "learning-rate-x100", "seed": 0, "began": BEGAN, "died": died, "alarms": alarms,
        "episodes": [(STEP * i, value + rng.normal()) for i, value in enumerate(returns, 1)],
        "rows": [[STEP * i, {}] for i in range(1, ROWS + 1)], **more,
    }  # fmt: skip


def judged(alarms: list[dict[str, Any]], again: list[dict[str, Any]] | None = None, **more: Any) -> Any:
    return judge(run_of(alarms, **more), RIGHT, (), again or ())


def test_an_alarm_at_once_counts_where_it_is_said_again_from_what_comes_later() -> None:
    one = judged([alarm(602)], [alarm(615)])
    assert (one.in_time, one.strict, one.slow, one.confirmed) == (True, False, True, True)
    assert not judged([alarm(602)]).confirmed
    assert not judged([alarm(602)], [alarm(615, link="critic")]).confirmed, "the right link, again"
    assert not judged([alarm(602)], [alarm(900)]).confirmed, "too late"


def test_what_is_gone_within_the_first_hundredth_can_be_confirmed_by_nothing() -> None:
    one = judged([alarm(601)], [alarm(615)], lost_at=601.0)
    assert one.in_time
    assert (one.slow, one.confirmed) == (False, False)


def test_a_rule_that_alarms_on_twins_counts_neither_time() -> None:
    one = judge(run_of([alarm(602)]), RIGHT, {"lr-schedule-fault"}, [alarm(615)])
    assert one.alarm is None
    assert one.again is None


@pytest.mark.parametrize(("alarms", "rows"), [(0, 1000), (1, 1000), (7, 200)])
def test_the_upper_rate_is_the_one_at_which_so_few_alarms_have_five_percent(alarms: int, rows: int) -> None:
    mean = rate_at_most(alarms, rows) * rows
    at_most = sum(math.exp(-mean) * mean**k / math.factorial(k) for k in range(alarms + 1))
    assert at_most == pytest.approx(0.05, rel=1e-6)


def test_the_probability_of_chance_is_that_of_drawing_rows_one_by_one() -> None:
    rate, rows, draws = 0.01, 40, 200_000
    hits = np.random.default_rng(0).random((draws // 10, rows)) < rate
    assert probability(rate, rows) == pytest.approx(hits.any(axis=1).mean(), abs=0.01)
    assert probability(rate, 0) == 0


def test_unbroken_is_a_twin_and_what_comes_before_a_fault() -> None:
    twin = run_of([alarm(900)], fault="") | {"fault": ""}
    faulty = run_of([alarm(50), alarm(620), alarm(600, "crashed-on-nonfinite")])
    assert unbroken([twin, faulty]) == (2, ROWS + 599)


def test_the_rows_that_are_kept_from_the_monitor_are_those_of_the_first_hundredth() -> None:
    run = run_of([])
    gone = {row[0] for row in run["rows"]} - {row[0] for row in without_first(run, CLOSE)["rows"]}
    assert gone == {601.0 + i for i in range(10)}


def test_a_lasting_fault_is_named_again_and_a_single_row_is_not() -> None:
    def replayed(rates: dict[int, float], value: float) -> list[str]:
        rows = [[float(i), {"optim/lr": rates.get(i, 3e-4 if i <= BEGAN else value)}] for i in range(1, ROWS + 1)]
        run = run_of([], rows=rows, seconds=100.0, monitor_seconds=0.0, algorithm="PPO", clock="env_steps", config={})
        assert [a["name"] for a in rejudged(run)] == ["lr-schedule-fault"]
        return [a["name"] for a in rejudged(without_first(run, CLOSE)) if a["at"] > BEGAN]

    assert replayed({}, 3e-2) == ["lr-schedule-fault"]
    assert replayed({605: 3e-2}, 3e-4) == []


def test_the_figures_are_those_of_the_definitions() -> None:
    runs = [
        judged([alarm(602)], [alarm(615)]),
        judged([alarm(640)], [alarm(640)]),
        judged([alarm(601)], lost_at=601.0),
        judged([]),
    ]
    assert all(one.collapsed for one in runs)
    lines = strictly(runs, [one for one in runs if one.in_time], [one for one in runs if one.slow], (0, 60_000))
    by_rate, without, by_time = lines
    assert "So 3 of 4 (75%) count." in by_rate
    assert "In 1 of the 4 collapses" in without
    assert "Of the other 3, 2 (67%) are named so; of all 4, 50%." in without
    assert "1 of the 3 came later" in by_time
    assert "**3 of 4 faults that end in collapse (75%)" in summary(runs, [], (0, 60_000))


def test_a_run_says_itself_over_how_many_episodes_its_return_is_averaged() -> None:
    from judging import window_of

    assert window_of({"subject": "sb3_a2c_catch", "window": 100}) == 100
    assert [window_of({"subject": name}) for name in ("ppo", "sac", "grpo")] == [20, 5, 20]


@pytest.mark.parametrize("name", ["unseen", "third"])
def test_the_unseen_runs_come_in_a_drawn_order_at_drawn_instants(name: str) -> None:
    import drawn_list
    from third import THIRD
    from unseen import UNSEEN as SECOND

    orders = (SECOND if name == "unseen" else THIRD).orders()
    assert len(orders) == len(set(orders)) > 40
    assert sum(not fault for _, fault, _ in orders) >= 20
    assert [bool(fault) for _, fault, _ in orders[:20]].count(True) not in (0, 20), "faults and twins are mixed"
    instants = [drawn_list.instant(*order) for order in orders]
    assert len(set(instants)) == len(orders)
    assert drawn_list.EARLIEST <= min(instants) < max(instants) < drawn_list.LATEST


@pytest.mark.parametrize(
    "name", ["unseen", "third", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"]
)
def test_the_first_score_of_the_unseen_runs_is_never_written_over(name: str, monkeypatch: Any, tmp_path: Path) -> None:
    import publish_unseen

    kept = tmp_path / f"{name}_first.md"
    kept.write_text("as it was", "utf-8")
    monkeypatch.setattr(publish_unseen, "KEPT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["publish_unseen.py", "--list", name, "--folder", str(tmp_path)])
    with pytest.raises(SystemExit, match="the first score stays"):
        publish_unseen.main()
    assert kept.read_text("utf-8") == "as it was"
