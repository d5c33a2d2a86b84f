"""The wrappers of verl's and AReaL's loggers, on rows as those loggers are given them (see tests/data/rows)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.monitor.adapters import areal, verl
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action, Verdict
from firstbreak.vocabulary import map_keys

ROWS = Path(__file__).parents[3] / "data" / "rows"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROWS / f"{name}.jsonl").read_text().splitlines()]


class Tracking:
    """verl's signature: `log(data, step, backend=None)`."""

    def __init__(self) -> None:
        self.logged: list[tuple[Any, Any, Any]] = []

    def log(self, data: Any, step: Any, backend: Any = None) -> str:
        if data == "fail":
            raise OSError("disk full")
        self.logged.append((data, step, backend))
        return "logged"


class StatsLogger:
    """AReaL's signature and its way of counting: `commit(epoch, step, global_step, data)`."""

    def __init__(self, last: int = -1, config: Any = None) -> None:
        self._last_commit_step, self.exp_config = last, config
        self.steps: list[int] = []

    def commit(self, epoch: int, step: int, global_step: int, data: Any) -> None:
        found = [data] if isinstance(data, dict) else data
        first = max(global_step, self._last_commit_step + 1)
        self.steps += [first + i for i in range(len(found))]
        self._last_commit_step = first + len(found) - 1


class Broken(Monitor):
    """Fails whatever it is asked."""

    def log(self, *args: Any, **kwargs: Any) -> Verdict:
        raise RuntimeError("a fault of the monitor")

    def configure(self, config: Any) -> None:
        raise RuntimeError("a fault of the monitor")


def test_verl_rows_reach_logger_and_monitor_and_the_collapse_is_seen() -> None:
    monitor, logger = Monitor(framework="verl", algorithm="GRPO"), Tracking()
    assert verl.monitored(logger, monitor) is logger
    given_rows = rows("verl")
    for step, row in enumerate(given_rows, start=1):
        assert logger.log(data=row, step=step) == "logged"
    assert logger.logged == [(row, step, None) for step, row in enumerate(given_rows, start=1)]
    assert monitor.rows == len(given_rows)
    assert monitor.faults == []
    assert any(40 <= alarm.finding.onset.hi <= alarm.at for alarm in monitor.alarms), monitor.alarms


def test_areal_rows_reach_logger_and_monitor_and_the_collapse_is_seen() -> None:
    monitor, logger = Monitor(framework="areal", algorithm="GRPO"), StatsLogger()
    assert areal.monitored(logger, monitor) is logger
    for step, row in enumerate(rows("areal")):
        logger.commit(0, step, step, row)
    assert monitor.rows == len(rows("areal"))
    assert not any(key.endswith(areal.COUNTER) for key in monitor.latest)
    assert any(40 <= alarm.finding.onset.hi <= alarm.at for alarm in monitor.alarms), monitor.alarms


@pytest.mark.parametrize(("name", "most"), [("verl", 0.75), ("areal", 0.75), ("verl_posted", 0.7)])
def test_the_vocabulary_knows_most_keys_of_the_rows(name: str, most: float) -> None:
    for row in rows(name):
        keys = row.get("data", row)
        assert len(map_keys(list(keys), name.split("_", maxsplit=1)[0], "GRPO")) >= most * len(keys)


def test_posted_verl_rows_are_taken_as_they_are() -> None:
    for row in rows("verl_posted"):
        monitor, logger = Monitor(framework="verl"), Tracking()
        verl.monitored(logger, monitor).log(row["data"], row["step"])
        assert monitor.latest == row["data"]
        assert monitor.faults == []


def test_an_areal_step_of_several_rows_after_a_recovery_keeps_areals_positions() -> None:
    seen: list[float] = []

    class Steps(Monitor):
        def log(self, metrics: Any, *, step: float | None = None, clock: str = "") -> Verdict:
            seen.append(float(step or 0))
            return super().log(metrics, step=step, clock=clock)

    logger = StatsLogger(last=17)
    areal.monitored(logger, Steps())
    logger.commit(0, 0, 9, [{"a": 1.0}, {"a": 2.0}])
    logger.commit(0, 1, 10, {"a": 3.0})
    logger.commit(0, 2, 11, [])
    assert seen == [float(step) for step in logger.steps] == [18.0, 19.0, 20.0]


def test_only_the_rank_that_logs_feeds_the_monitor(monkeypatch: pytest.MonkeyPatch) -> None:
    rank = SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 1)
    monkeypatch.setitem(sys.modules, "torch.distributed", rank)  # type: ignore[arg-type]
    monitor, logger = Monitor(), StatsLogger()
    areal.monitored(logger, monitor).commit(0, 0, 0, {"a": 1.0})
    assert (logger.steps, monitor.rows) == ([0], 0)
    rank.get_rank = lambda: 0
    logger.commit(0, 1, 1, {"a": 1.0})
    assert monitor.rows == 1


def test_a_broken_monitor_is_not_noticed_by_the_trainer() -> None:
    tracking, stats = Tracking(), StatsLogger(config={"actor": {"eps_clip": 0.2}})
    broken = Broken()
    verl.monitored(tracking, broken, config={"a": 1}).log({"a": 1.0}, 1)
    areal.monitored(stats, broken).commit(0, 0, 0, {"a": 1.0})
    assert tracking.logged
    assert stats.steps == [0]
    assert any("a fault of the monitor" in fault for fault in broken.faults)


def test_a_failing_logger_fails_as_before_and_the_monitor_gets_no_row() -> None:
    monitor, logger = Monitor(), Tracking()
    verl.monitored(logger, monitor)
    with pytest.raises(OSError, match="disk full"):
        logger.log("fail", 1)
    assert monitor.rows == 0


def test_a_verdict_reaches_whom_it_concerns_and_may_end_the_run() -> None:
    seen: list[Verdict] = []
    logger = Tracking()
    act = {"nonfinite-metric": "stop_training"}
    verl.monitored(logger, Monitor(framework="verl", act=act), on_verdict=seen.append)
    for step in range(1, 11):
        logger.log({"actor/grad_norm": 1.0 / step}, step)
    assert seen == []
    logger.log({"actor/grad_norm": float("nan")}, 11)
    assert [verdict.action for verdict in seen] == [Action.STOP_TRAINING]


def test_what_is_raised_at_a_verdict_ends_the_run() -> None:
    def end(verdict: Verdict) -> None:
        raise SystemExit

    logger, row = Tracking(), rows("verl")
    monitor = Monitor(framework="verl", algorithm="GRPO", act={"*": "stop_training"})
    verl.monitored(logger, monitor, on_verdict=end)

    def replay() -> None:
        for step, data in enumerate(row, start=1):
            logger.log(data, step)

    with pytest.raises(SystemExit):
        replay()
    assert 40 < len(logger.logged) == monitor.rows < len(row)


def test_settings_are_told_and_secrets_are_not() -> None:
    config = {
        "algorithm": {"adv_estimator": "grpo", "gamma": 0.99},
        "actor_rollout_ref": {"actor": {"clip_ratio": 0.2, "optim": {"lr": 1e-6}}},
        "trainer": {"wandb_key": "s3cret", "wandb_proxy": "http://user:s3cret@host"},
    }
    monitor = Monitor(framework="verl")
    verl.monitored(Tracking(), monitor, config=config)
    monitor.log({"actor/grad_norm": 1.0}, step=1)
    log = monitor.run_log()
    assert (log.config["clip_range"], log.config["lr"], log.config["gamma"]) == (0.2, 1e-6, 0.99)
    assert log.algorithm == "GRPO"
    assert "s3cret" not in repr(log.config)


VALUES = (
    st.floats() | st.integers() | st.text(max_size=5) | st.none() | st.lists(st.floats(), max_size=2) | st.booleans()
)


@given(st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=5), max_size=6))
def test_whatever_is_logged_is_forwarded_unchanged(data: list[dict[str, Any]]) -> None:
    logger = Tracking()
    verl.monitored(logger, Monitor())
    for step, row in enumerate(data):
        logger.log(row, step, backend="console")
    assert [id(row) for row, _, _ in logger.logged] == [id(row) for row in data]
    assert [(step, backend) for _, step, backend in logger.logged] == [(i, "console") for i in range(len(data))]


def test_a_verdict_that_nobody_hears_is_said() -> None:
    class Asking(Monitor):
        def log(self, *args: Any, **kwargs: Any) -> Verdict:
            return Verdict(Action.STOP_TRAINING)

    monitor = Asking()
    logger = verl.monitored(Tracking(), monitor)
    logger.log({"actor/kl_loss": 0.1}, 1)
    logger.log({"actor/kl_loss": 0.1}, 2)
    assert [fault for fault in monitor.faults if "on_verdict" in fault] == monitor.faults
    assert len(monitor.faults) == 1
