"""A monitor that is used wrongly says so: at once where it can, once where it cannot, and never in silence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from firstbreak import Monitor
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.monitor import Notice
from firstbreak.monitor.alerts import Console
from firstbreak.monitor.positions import MOST_LAYOUTS, STOOD, WENT_BACK, Positions


def row(i: int, **more: float) -> dict[str, float]:
    calm = {"policy/kl_old": 0.01 + 0.001 * (i % 3), "policy/clip_fraction": 0.1, "policy/entropy": 0.6}
    return {**calm, "critic/loss": 1.0 + 0.1 * (i % 5), **more}


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ({"path": 3}, "path is of type int"),
        ({"algorithm": 3}, "algorithm is of type int"),
        ({"framework": ["trl"]}, "framework is of type list"),
        ({"alerts": Console()}, r"not a list of alerts.\nWrite alerts="),
        ({"alerts": print}, "not a list of alerts"),
        ({"settings": {"select": []}}, "settings is of type dict"),
        ({"names": ["mine"]}, r"names=\{"),
        ({"act": {"kl-overshoot": None}}, "is not an action"),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_made(argument: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Monitor(**argument)


def test_none_is_not_given() -> None:
    nothing: Any = None
    monitor = Monitor(nothing, algorithm=nothing, framework=nothing, clock=nothing, act=None, config=None, names=None)
    assert (monitor.clock, monitor.faults) == ("", [])


def test_a_rule_that_does_not_exist_is_answered_with_those_of_its_subject() -> None:
    with pytest.raises(UnknownNameError, match="'kl-overshoot'"):
        Monitor(act={"kl-spike": "stop_update"})
    with pytest.raises(UnknownNameError, match="firstbreak rules"):
        Monitor(act={3: "stop_update"})  # type: ignore[dict-item]


@pytest.mark.parametrize("step", [[5], {}, "five", np.zeros(2), math.inf, math.nan, 10**400, object()])
def test_a_step_that_is_no_position_is_said_with_what_it_was(step: Any) -> None:
    monitor = Monitor(algorithm="PPO")
    assert monitor.log(row(0), step=step).proceed
    assert monitor.rows == 0
    (said,) = monitor.faults
    assert said.startswith("step ")
    assert "is no position" in said


@pytest.mark.parametrize("step", [7, 7.0, np.int64(7), np.array([7]), "7"])
def test_a_step_may_be_anything_that_holds_one_number(step: Any) -> None:
    monitor = Monitor(algorithm="PPO")
    monitor.log(row(0), step=step)
    assert (monitor.step, monitor.faults) == (7.0, [])


def test_a_step_that_never_grows_is_said_and_so_is_one_that_begins_anew() -> None:
    stands, begins = Monitor(algorithm="PPO"), Monitor(algorithm="PPO")
    for i in range(200):
        stands.log(row(i), step=0)
        begins.log(row(i), step=i % 10)
    assert [said.partition(":")[0] for said in stands.faults] == [f"{STOOD} rows on end have the same step"]
    assert [said.partition(":")[0] for said in begins.faults] == [f"steps went back {WENT_BACK} times"]


def test_steps_that_are_fine_are_not_complained_of() -> None:
    heard = Positions()
    rows = [(("reward/episode_return", "episode/length"), 10.0)] * 500  # copies whose episodes end together
    for update in range(300):
        rows += [(("a", "b", "c", "d"), update), (("e", "f", "g", "h"), update), (("world",), update - 0.5)]
    assert {heard.hear(keys, float(step)) for keys, step in rows} == {""}
    for resumed in range(WENT_BACK - 1):
        assert heard.hear(("a", "b", "c", "d"), 200.0 - resumed) == ""
    for number in range(3 * MOST_LAYOUTS):
        heard.hear((f"{number}",), 0.0)
    assert len(heard._last) <= MOST_LAYOUTS


def test_going_back_where_it_was_told_of_is_no_mistake() -> None:
    monitor = Monitor(algorithm="PPO")
    for turn in range(2 * WENT_BACK):
        for i in range(10):
            monitor.log(row(i), step=i)
        monitor.rolled_back(0 if turn else 1)
    assert monitor.faults == []


def test_rows_that_are_counted_are_rows_whatever_the_framework_counts() -> None:
    notices: list[Notice] = []
    monitor = Monitor(framework="stable_baselines3", alerts=[notices.append], time_share=math.inf)
    for i in range(30):
        monitor.log({"train/approx_kl": 0.01 if i < 20 else 9.0, "train/clip_fraction": 0.1, "train/n_updates": i})
    monitor.close()
    assert (monitor.clock, monitor.run_log().clock) == ("rows", "rows")
    assert "seen at row 20." in notices[0].text


def test_a_notice_of_a_run_whose_clock_nobody_knows_still_reads(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = Monitor(alerts=[Console()], time_share=math.inf)
    for i in range(30):
        monitor.log({"policy/kl_old": 0.01 if i < 20 else 9.0}, step=i)
    monitor.close()
    said = capsys.readouterr().err
    assert "seen at step 20. Likeliest cause:\n  update-too-large. Each update moves the policy" in said
    assert "\n  step 20, rule kl-overshoot (POL001)\n" in said
