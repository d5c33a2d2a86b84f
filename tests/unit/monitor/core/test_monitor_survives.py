"""Nothing that a loop logs, and no fault inside, stops the loop: each trouble is caused here."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak import Monitor, diagnose
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.monitor import Action
from firstbreak.monitor.faults import COPIED
from firstbreak.monitor.history import MAX_KEYS, History
from firstbreak.monitor.layouts import MAX_LAYOUT_KEYS


def calm(i: int) -> dict[str, float]:
    return {"policy/kl_old": 0.01 + 0.001 * (i % 3), "policy/clip_fraction": 0.1, "policy/entropy": 0.6}


def silent(**options: Any) -> Monitor:
    return Monitor(None, algorithm="PPO", now=lambda: 0.0, **options)


def test_nan_everywhere_is_found_and_training_goes_on() -> None:
    monitor = silent(time_share=math.inf)
    verdicts = [monitor.log(calm(i) if i < 5 else dict.fromkeys(calm(0), math.nan), step=i) for i in range(20)]
    assert all(v.proceed for v in verdicts)
    assert "nonfinite-metric" in {a.finding.name for a in monitor.alarms}
    assert monitor.faults == []


def test_ten_thousand_metrics_in_one_call() -> None:
    monitor = silent()
    for i in range(3):
        monitor.log({f"m/{k}": float(k) for k in range(10_000)} | calm(i), step=i)
    assert monitor.rows == 3
    assert monitor.faults == []
    assert monitor.latest["m/9999"] == 9999.0


@pytest.mark.parametrize("together", [True, False])
def test_ten_thousand_keys_without_meaning_do_not_hide_those_that_have_one(together: bool) -> None:
    crowd = {f"m/{k}": float(k) for k in range(10_000)}
    sb3 = {"train/approx_kl": 0.01, "train/clip_fraction": 0.1, "rollout/ep_rew_mean": 5.0, "train/n_updates": 1.0}
    monitor = silent(time_share=math.inf)
    if not together:
        monitor.log(crowd, step=0)
    for i in range(1, 20):
        row = {key: value if i < 12 else math.nan for key, value in sb3.items()}
        monitor.log(crowd | row if together and i == 1 else row, step=i)
    assert "nonfinite-metric" in {a.finding.name for a in monitor.alarms}
    assert monitor.run_log().framework == "stable_baselines3"
    assert monitor.faults == []


def test_keys_that_mean_something_and_never_repeat_do_not_fill_the_memory() -> None:
    history = History("")
    for i in range(10):
        history.add(tuple(f"Episode_Reward/{i}-{k}" for k in range(1000)), [1.0] * 1000, i, 0.0)
    assert len(history._keys) == 2 * MAX_KEYS


def test_wide_rows_that_never_look_alike_do_not_fill_the_memory() -> None:
    """A row of few keys counts little against the bound, one of thousands much: it is keys that take memory."""
    monitor = silent(time_share=0.0)
    crowd = [f"m/{k}" for k in range(10_000)]
    for i in range(3 * MAX_LAYOUT_KEYS // len(crowd)):
        monitor.log(dict.fromkeys(crowd[: len(crowd) - i], 1.0) | calm(i), step=i)
    for layouts in (monitor._history._waiting.layouts, monitor._looks._screens._layouts):
        assert 0 < sum(map(len, layouts)) <= MAX_LAYOUT_KEYS
    kl = next(s for s in monitor.run_log().series if s.metric == "policy/kl_old")
    assert kl.step.size == monitor.rows, "what waited in a layout that was dropped is in its track"


def test_one_row_wider_than_the_bound_is_taken() -> None:
    monitor = silent(time_share=0.0)
    for i in range(3):
        monitor.log(dict.fromkeys((f"m/{k}" for k in range(MAX_LAYOUT_KEYS + 1)), 1.0) | calm(i), step=i)
    assert monitor.faults == []
    assert monitor.rows == 3
    assert len(monitor._history._waiting.layouts) == 1


def test_keys_that_never_repeat_do_not_fill_the_memory() -> None:
    monitor = silent(time_share=0.0)
    for i in range(200):
        monitor.log({f"own/{i}/{k}": 1.0 for k in range(50)} | calm(i), step=i)
    history = monitor._history
    assert len(history._keys) <= MAX_KEYS
    assert len(history._waiting.layouts) <= MAX_KEYS
    assert len(monitor.latest) <= 2 * MAX_KEYS + 53


class Unruly:
    """Raises what nobody expects, whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(name)


@pytest.mark.parametrize(
    "value", ["text", [1.0, 2.0], {"a": 1}, np.zeros(3), object(), b"x", 1j, Unruly()], ids=lambda v: type(v).__name__
)
def test_what_is_no_number_is_left_out_and_said_once(value: Any, capsys: pytest.CaptureFixture[str]) -> None:
    monitor = silent()
    for i in range(3):
        assert monitor.log({"bad": value, **calm(i)}, step=i).proceed
    assert len(monitor.faults) == 1
    assert "'bad' is not a number" in capsys.readouterr().err
    assert monitor.rows == 3


def test_numbers_of_every_kind_are_read() -> None:
    import torch

    monitor = silent()
    row = {"a": 1, "b": True, "c": np.float32(2), "d": np.array(3), "e": np.array([4.0]), "f": torch.tensor(5.0)}
    monitor.log({**row, "g": 10**400, "h": -(10**400), "i": None, "j": float("inf")}, step=0)
    assert monitor.faults == []
    assert [monitor.latest[k] for k in "abcdefgh"] == [1, 1, 2, 3, 4, 5, math.inf, -math.inf]
    assert "i" not in monitor.latest


@pytest.mark.parametrize("step", [math.nan, math.inf, "seven"])
def test_a_step_that_is_no_position(step: Any) -> None:
    monitor = silent()
    assert monitor.log(calm(0), step=step).proceed
    assert len(monitor.faults) == 1
    monitor.log(calm(1), step=1)
    assert monitor.rows == 1


def test_a_rule_that_raises_is_left_out_and_the_others_go_on() -> None:
    monitor = silent(time_share=math.inf)
    state = monitor._looks._judge.states["policy-frozen"]

    def broken(view: Any, params: Any) -> Any:
        raise ZeroDivisionError("planted")

    state.rule = replace(state.rule, detect=broken)
    for i in range(12):
        monitor.log({"policy/kl_old": 0.01 if i < 8 else 5.0, "policy/clip_fraction": 0.1}, step=i)
    assert [f for f in monitor.faults if "policy-frozen failed" in f]
    assert "kl-overshoot" in {a.finding.name for a in monitor.alarms}


def test_an_alert_that_raises_and_a_source_that_raises() -> None:
    def bad_alert(notice: Any) -> None:
        raise OSError("down")

    def bad_source() -> dict[str, float]:
        raise KeyError("gone")

    monitor = silent(alerts=[bad_alert])
    monitor.collect(bad_source)
    for i in range(12):
        assert monitor.log({"policy/kl_old": 0.01 if i < 8 else 5.0}, step=i).proceed
    monitor.close()
    assert monitor.alarms
    assert any("a source of metrics failed" in f for f in monitor.faults)


def test_settings_that_cannot_be_read_and_a_step_that_is_no_number() -> None:
    monitor = silent()
    monitor.configure(3)  # type: ignore[arg-type]
    monitor.rolled_back("ten")  # type: ignore[arg-type]
    assert [f.partition(":")[0] for f in monitor.faults] == ["configure", "rolled_back"]
    assert monitor.log(calm(0), step=0).proceed


def test_a_row_that_is_no_mapping_is_said_in_words() -> None:
    monitor = silent()
    assert monitor.log([1.0, 2.0]).proceed  # type: ignore[arg-type]
    assert "A row of list was logged." in monitor.faults[0]


def test_the_clock_may_jump() -> None:
    times = iter([100.0, 50.0, 1e12, -5.0] * 100)
    monitor = Monitor(None, algorithm="PPO", now=lambda: next(times))
    for i in range(40):
        assert monitor.log(calm(i), step=i).proceed
    assert monitor.faults == []
    assert monitor.alarms == []


def test_steps_may_go_back_and_repeat() -> None:
    monitor = silent(time_share=math.inf)
    for step in [0, 1, 2, 3, 2, 3, 4, 4, 4, 5, 0, 1]:
        assert monitor.log(calm(step), step=step).proceed
    assert monitor.faults == []


def test_closing_twice_and_logging_afterwards_is_harmless(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path, algorithm="PPO")
    monitor.log(calm(0), step=0)
    monitor.close()
    monitor.close()
    assert monitor.log(calm(1), step=1).proceed


def test_an_error_of_the_loop_is_not_swallowed_and_is_recorded(tmp_path: Path) -> None:
    def loop() -> None:
        with Monitor(tmp_path, algorithm="PPO") as monitor:
            monitor.log(calm(0), step=0)
            raise RuntimeError("of the loop")

    with pytest.raises(RuntimeError, match="of the loop"):
        loop()
    lines = [json.loads(line) for path in tmp_path.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert any(line.get("name") == "crashed" and line.get("text") == "RuntimeError" for line in lines)


def child(monitor: Monitor) -> None:
    monitor.log({"worker/x": 1.0}, step=1)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_neither_judge_nor_hang(tmp_path: Path, method: str) -> None:
    if method == "fork":
        monitor = Monitor(tmp_path, algorithm="PPO", alerts=[lambda notice: None])
        monitor.log(calm(0), step=0)
        pid = os.fork()
        if pid == 0:
            child(monitor)
            os._exit(0 if monitor.rows == 1 else 7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        monitor.close()
    else:
        code = (
            "import multiprocessing as m\nfrom firstbreak import Monitor\n"
            "def work(x):\n    return x\n"
            "if __name__ == '__main__':\n    monitor = Monitor(None)\n"
            "    p = m.get_context('spawn').Process(target=work, args=(1,)); p.start(); p.join(); print(p.exitcode)\n"
        )
        script = tmp_path / "spawning.py"
        script.write_text(code)
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "0"
    assert multiprocessing.active_children() == []


def test_a_monitor_may_be_sent_to_a_worker_and_does_nothing_there(tmp_path: Path) -> None:
    heard: list[Any] = []
    monitor = Monitor(tmp_path, algorithm="PPO", act={"*": "stop_training"}, alerts=[heard.append])
    there = pickle.loads(pickle.dumps(monitor))
    for i in range(12):
        assert there.log({"policy/kl_old": 0.01 if i < 8 else 5.0}, step=i).proceed
    assert there.faults == [COPIED]
    assert monitor.faults == []
    there.close()
    monitor.close()
    assert heard == []
    assert len(list(tmp_path.rglob("*.jsonl"))) == 1


def test_a_folder_that_cannot_be_written_is_said_and_judging_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monitor = Monitor(in_the_way / "run", algorithm="PPO")
    for i in range(12):
        monitor.log({"policy/kl_old": 0.01 if i < 8 else 5.0}, step=i)
    assert monitor.alarms
    assert monitor.faults
    assert "training goes on" in capsys.readouterr().err
    monitor.close()


def test_the_record_is_diagnosed_as_the_run_was(tmp_path: Path) -> None:
    with Monitor(tmp_path, algorithm="PPO", clock="updates") as monitor:
        for i in range(60):
            monitor.log({**calm(i), "policy/kl_old": 0.01 if i < 40 else 3.0}, step=i)
    later = diagnose(tmp_path)
    assert later.first_break is not None
    assert monitor.diagnosis().first_break is not None
    assert later.first_break.name == monitor.diagnosis().first_break.name


def test_mistakes_of_the_user_are_said_at_once() -> None:
    with pytest.raises(UnknownNameError, match="kl-spike"):
        Monitor(None, act={"kl-spike": "stop_update"})
    with pytest.raises(InputError, match="is not an action"):
        Monitor(None, act={"kl-overshoot": "explode"})
    with pytest.raises(InputError, match="act is a list"):
        Monitor(None, act=["kl-overshoot"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="clock"):
        Monitor(None, clock="fortnights")
    with pytest.raises(InputError, match="rank = -1"):
        Monitor("nowhere", rank=-1)
    with pytest.raises(UnknownNameError):
        Monitor(None, names={"my/kl": "policy/no_such_metric"})
    with pytest.raises(UnknownNameError, match="stable_baselines3"):
        Monitor(None, framework="stable_baseline3")


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ({"warm_up": "long"}, "warm_up"),
        ({"warm_up": -1}, "warm_up"),
        ({"rank": -3}, "rank = -3"),
        ({"rank": "0"}, "rank"),
        ({"time_share": -0.1}, "time_share"),
        ({"time_share": float("nan")}, "time_share"),
        ({"checkpoints": "runs/x/checkpoints"}, "checkpoints is a str"),
        ({"config": ["gamma"]}, "config is a list"),
        ({"names": ["mine"]}, "names is a list"),
    ],
)
def test_an_argument_that_would_blind_it_at_a_row_is_refused_at_once(argument: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Monitor(None, **argument)


def test_a_clock_that_is_none_is_said_and_does_not_blind_it() -> None:
    monitor = Monitor(None, algorithm="PPO", act={"numerics": "stop_training"})
    for step in range(20):
        monitor.log({"policy/loss": 0.1}, step=step, clock="frames")
    assert monitor.log({"policy/loss": math.nan}, step=20, clock="env_steps").stop_training
    assert monitor.faults == [
        "clock = 'frames' is none of updates, env_steps, seconds, rows; such rows are taken on the run's own"
    ]


def test_rows_on_another_clock_are_not_left_out_in_silence() -> None:
    monitor = Monitor(None, algorithm="PPO", clock="updates")
    monitor.log({"policy/loss": 0.1}, step=512, clock="env_steps")
    assert monitor.rows == 0
    assert monitor.faults == ["rows that count env_steps are recorded, not judged: the clock of this run is updates"]


def test_a_store_that_fails_does_not_cost_the_answer() -> None:
    class Broken:
        def broke(self, at: float) -> None:
            raise OSError("the disk is gone")

        mended = save = roll_back = broke

    monitor = Monitor(None, algorithm="PPO", act={"numerics": "roll_back"}, checkpoints=Broken())
    for step in range(20):
        monitor.log({"policy/loss": 0.1}, step=step)
    assert monitor.log({"policy/loss": math.nan}, step=20).roll_back
    assert monitor.faults == ["checkpoints: OSError: the disk is gone"]


def test_actions_have_an_order() -> None:
    ranks = [a.rank for a in (Action.CONTINUE, Action.STOP_UPDATE, Action.STOP_TRAINING, Action.ROLL_BACK)]
    assert ranks == sorted(ranks)
