"""`Monitor`: rows in, a verdict out."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..config import Settings, chosen_rules, find_settings
from ..diagnosis import Diagnosis
from ..runlog import CLOCKS, CRASHED, Event, Recording, RunLog
from .answers import GO_ON, Answers
from .death import died_of
from .faults import CLOSED, COPIED, FORKED, Faults
from .guard import Guard, policy
from .history import MAX_KEYS, History
from .judge import Judge
from .looks import Looks
from .mistakes import misread, refuse_mistakes
from .naming import unknown_algorithm
from .outlets import Outlets
from .positions import Positions, place_of
from .resuming import earlier, take_up
from .rows import read_row
from .schedule import TIME_SHARE, Schedule
from .sources import Sources
from .standing import Standing
from .verdict import Action, Alarm, Verdict

FLUSH_ROWS = 512
"""Rows that may wait before they are put into tracks. Engineering choice: memory against speed."""


class Monitor:
    """Guards one training run with the rules that `diagnose` uses, row by row.

    A fault of the monitor itself never stops training: it is kept in `faults`, said once, and the verdict is to go on.

    Args:
        path: The run's folder; the record goes to `<path>/firstbreak/`. None keeps everything in memory.
        algorithm: PPO, A2C, DQN, SAC, MM-RKHS, GRPO ...; found from the keys when not given.
        framework: Whose keys are logged (`stable_baselines3`, `trl` ...); found from the keys when not given.
        config: The run's settings under canonical or the framework's own keys (`gamma`, `clip_range` ...).
        names: Source key -> canonical metric, for keys of your own.
        clock: What `step` counts: updates, env_steps, seconds or rows.
        act: Rule, link or `*` (all errors) -> `stop_update`, `stop_training` or `roll_back`; nothing by default.
        alerts: Where alarms are sent, see `firstbreak.monitor.alerts`.
        checkpoints: A `firstbreak.monitor.checkpoints.Checkpoints`, which is told when the run broke.
        settings: Selection, parameters and suppressions of rules; found beside `path` when not given.
        warm_up: Rows in which only exact invariants and hard bounds may alarm.
        rank: This process among many; None when there is one.
        time_share: Share of wall time that looks beside the post-mortem's ticks may take; `inf` looks at every row.
        now: Seconds since the epoch; replaced in tests.
        timer: Seconds, monotone; replaced in tests.

    Raises:
        UnknownNameError: `act`, `names` or `framework` names what does not exist; InputError: no such action or clock,
            or an argument of a kind that a monitor cannot work with.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        algorithm: str = "",
        framework: str = "",
        config: Mapping[str, Any] | None = None,
        names: Mapping[str, str] | None = None,
        clock: str = "",
        act: Mapping[str, str] | None = None,
        alerts: Sequence[Any] = (),
        checkpoints: Any = None,
        settings: Settings | None = None,
        warm_up: int = 0,
        rank: int | None = None,
        time_share: float = TIME_SHARE,
        now: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        algorithm, framework, clock = algorithm or "", framework or "", clock or ""
        refuse_mistakes(
            path=path, algorithm=algorithm, framework=framework, config=config, names=names, clock=clock, alerts=alerts,
            checkpoints=checkpoints, settings=settings, warm_up=warm_up, rank=rank, time_share=time_share,
        )  # fmt: skip
        self.path = None if path is None else Path(path)
        settings = settings or (Settings() if self.path is None else find_settings(self.path))
        self.checkpoints = checkpoints
        self.alarms: list[Alarm] = []
        self.latest: dict[str, float] = {}
        """The newest value of every key."""
        self.rows = 0
        self.fault = Faults()
        """Call it with a sentence: keeps a fault of the monitor, and says it on stderr the first time."""
        self.faults = self.fault.kept
        """What went wrong in the monitor itself, each once."""
        self.fault(unknown_algorithm(algorithm, config))
        rules = chosen_rules(settings)
        self.act = policy(act, rules)
        """The user's policy: name of a rule or link, or `*` -> action. Empty where the monitor only watches."""
        guard = Guard(self.act, settings, str(path or ""), warm_up)
        self._history = History(
            str(path or "monitor"), algorithm=algorithm, framework=framework, clock=clock, config=config,
            names={**settings.names, **(names or {})}, custom=settings.custom,
        )  # fmt: skip
        self._looks = Looks(self._history, Judge(rules), guard, Schedule(time_share, timer), timer, self.fault)
        self._sources = Sources(self.fault)
        self._earlier = earlier(self.path, rank, self.fault)
        about = {"framework": framework, "algorithm": algorithm, "clock": clock}
        self._outlets = Outlets(self.path, alerts, rank=rank, about=about, source=self, now=now, fault=self.fault)
        self._outlets.config(config or {})
        self.record = self._outlets.record
        """The store on disk, None without a `path`: for what is no row of metrics, see `monitor.freshness`."""
        self._now = now
        self._lock, self._pid = threading.RLock(), os.getpid()
        self._step, self._waiting, self._positions = float("-inf"), 0, Positions()
        self._answers = Answers()
        self._standing = None if checkpoints is None else Standing(checkpoints)
        self._closed = self._crashed = False
        self._in_vain = ""
        """What to say of rows that nobody waits for any more."""

    @property
    def step(self) -> float:
        """Position of the newest row; -inf before the first."""
        return self._step

    @property
    def clock(self) -> str:
        """What positions count; empty until it is known."""
        return self._history.clock or self._history.known.clock

    def log(self, metrics: Mapping[str, Any], *, step: float | None = None, clock: str = "") -> Verdict:
        """Take one row of metrics and say whether to go on.

        Args:
            metrics: Key -> number (Python, numpy or a zero-dimensional tensor). Anything else is left out and noted.
            step: The position; counts rows when not given.
            clock: What `step` counts, where it differs from the run's clock: such rows are recorded, not judged.
        """
        try:
            with self._lock:
                return self._answers.all_to(self._log(self._sources.gathered(metrics), step, clock))
        except Exception as error:
            self.fault(f"log: {type(error).__name__}: {error}")
            return GO_ON

    def beside(self, metrics: Mapping[str, Any], *, step: float) -> None:
        """Take a row from what stands beside the loop; what it asks for is in the answer to the loop's next `log`.

        Args:
            metrics: Key -> number, as in `log`; no other source is asked.
            step: The position on the run's own clock.
        """
        try:
            with self._lock:
                self._answers.later(self._log(metrics, step, ""))
        except Exception as error:
            self.fault(f"beside: {type(error).__name__}: {error}")

    def event(self, name: str, text: str = "", *, step: float | None = None) -> None:
        """Note that something happened (resume, evaluation, a new stage)."""
        try:
            with self._lock:
                at = self._position(step)
                self._history.note(Event(name, at, text))
                self._outlets.event(name, at, text)
        except Exception as error:
            self.fault(f"event: {type(error).__name__}: {error}")

    def collect(self, source: Callable[[], Mapping[str, float]]) -> None:
        """Ask `source` (phase timers, the host's memory) for metrics at every row; the loop's own win."""
        self._sources.add(source)

    def configure(self, config: Mapping[str, Any], *, give_way: bool = False) -> None:
        """Add settings that became known after the start; with `give_way` only those that nobody gave."""
        try:
            with self._lock:
                added = self._history.configure(config, give_way)
                self._outlets.config(added)
        except Exception as error:
            self.fault(f"configure: {type(error).__name__}: {error}")

    def rolled_back(self, step: float) -> None:
        """Say that training was put back to what it was after the row at `step`: what came later no longer counts."""
        try:
            with self._lock:
                self._history.cut(step)
                self._looks.forget(step)
                self._step = float("-inf")
                self._positions.anew()
                self._answers.anew()
                self.event("roll_back", f"to step {step:g}", step=step)
        except Exception as error:
            self.fault(f"rolled_back: {type(error).__name__}: {error}")

    def diagnosis(self) -> Diagnosis:
        """Return what is known now: findings, ranked causes, first break, coverage."""
        with self._lock:
            self._say(*self._looks.everything(self.rows, self._step, self._now()))
            return self._looks.diagnosis()

    def run_log(self) -> RunLog:
        """Return the run so far, as the rules see it (bounded memory: not every row)."""
        with self._lock:
            return self._history.log()

    def flush(self) -> None:
        """Write out what is buffered."""
        self._outlets.flush()

    def close(self) -> None:
        """End the run: a last look at everything, then flush and send what is due. Safe to call twice."""
        with self._lock:
            if self._closed or os.getpid() != self._pid:
                return
            self._closed, self._in_vain = True, CLOSED
            try:
                if self.rows > self._looks.looked_row or self._crashed:
                    self._say(*self._looks.everything(self.rows, self._step, self._now()))
            except Exception as error:
                self.fault(f"close: {type(error).__name__}: {error}")
            if not self._crashed:
                self.event("finished")
            self._outlets.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self.event(CRASHED, died_of(kind, error))
            self._crashed = True
        self.close()

    def __reduce__(self) -> tuple[type[Monitor], tuple[()], dict[str, str]]:
        """Travel to a worker process as one that guards nothing: the run, its record and its alerts stay here."""
        return Monitor, (), {"_in_vain": COPIED}

    def _log(self, metrics: Mapping[str, Any], step: float | None, clock: str) -> Verdict:
        keys, values, left = read_row(metrics)
        self.fault(misread(clock, self._history.clock))
        clock = clock if clock in CLOCKS else ""
        for key in left:
            self.fault(f"{key!r} is not a number and is left out; log it as one to have it judged")
        at, wall = self._position(step), self._now()
        if not math.isfinite(at):
            self.fault(f"step {step!r} is no position; such rows are recorded, not judged")
        if len(self.latest) > 2 * MAX_KEYS:
            self.latest.clear()
        self.latest.update(zip(keys, values, strict=True))
        self._outlets.row(keys, values, at, wall, clock or self._history.clock)
        away = os.getpid() != self._pid
        self.fault(FORKED if away else self._in_vain)
        other_clock = bool(clock) and clock != (self._history.clock or clock)
        if away or other_clock or not math.isfinite(at):
            return GO_ON
        if step is None and self._step == float("-inf"):
            clock = clock or self._history.clock or "rows"  # whatever the framework counts: here rows are counted
        self._history.clock = clock or self._history.clock
        self.fault("" if step is None else self._positions.hear(keys, at))
        if self._earlier is not None:
            self._resume(self._earlier, at)
        self._history.add(keys, values, at, wall)
        self.rows += at != self._step
        self._step = at
        self._waiting += 1
        if self._waiting >= FLUSH_ROWS:  # memory stays bounded however seldom the rules look
            self._history.flush()
            self._waiting = 0
        return self._say(*self._looks.after_row(keys, values, self.rows, at, wall))

    def _resume(self, recording: Recording, at: float) -> None:
        """Go on from what an earlier process recorded before step `at`; what it had raised is not raised again."""
        self._earlier = None
        if taken := take_up(recording, self._history, at):
            self._outlets.event("resume", at, "")
            self.rows = taken.rows
            news = taken.news(*self._looks.everything(self.rows, at, self._now()))
            self._answers.later(self._say(*news))

    def _position(self, step: float | None) -> float:
        if step is None:
            return float(self.rows) if self._step == float("-inf") or self._step == self.rows - 1 else self._step
        return place_of(step)

    def _say(self, alarms: Sequence[Alarm], action: Action) -> Verdict:
        """Keep and send what was raised, and answer."""
        for alarm in alarms:
            self.alarms.append(alarm)
            self._outlets.alarm(alarm, self.clock)
        try:
            if self._standing is not None:
                self._standing.hear(alarms, self._looks.grave)
        except Exception as error:  # the answer is given all the same
            self.fault(f"checkpoints: {type(error).__name__}: {error}")
        return self._answers.to(alarms, action)
