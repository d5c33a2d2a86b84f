"""`run_experiment`: carry out one experiment on one subject, from plan to verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from ..isolation import Limits
from .conduct import Conduct, Progress
from .experiment import Experiment, find_experiment
from .plan import Plan, Protocol
from .result import Result, with_notes, write, write_plan
from .running.executor import Executor, Local
from .stages import Stage, next_stage, together
from .subject import Subject

LIMITS = Limits(seconds=600.0, silence_s=120.0)
"""Of one trial. Silence leaves room for importing a deep-learning framework on a busy machine."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C in the middle of an experiment; its text says what was kept."""


def _kept(known: Result, path: Path | None) -> str:
    if not known.trials:
        return "Stopped before the first trial had ended: nothing was measured."
    made = f"Stopped after {known.trials} {'trial' if known.trials == 1 else 'trials'}, without a verdict."
    if path is None:
        return f"{made} Nothing was kept: --run DIR records what is measured."
    return f"{made} What they measured is kept in {path}; run again it starts anew, from the first seed."


def run_experiment(
    one: Experiment | str,
    subject: Subject,
    protocol: Protocol | None = None,
    *,
    executor: Executor | None = None,
    limits: Limits | None = None,
    seconds: float | None = None,
    folder: Path | None = None,
    planned: Callable[[Plan], None] | None = None,
    tell: Callable[[Progress], None] | None = None,
) -> Result:
    """Carry out `one` on `subject` and return how it ended.

    Args:
        one: an experiment, or its name.
        subject: what is experimented on.
        protocol: seeds, margin and errors.
        executor: where the trials run; by default one child process at a time on this machine.
        limits: of one trial: seconds, seconds without a sign of life, bytes.
        seconds: after so many no further trial is begun; what is known then is judged.
        folder: where plan and result are recorded; the plan is there before anything runs.
        planned: hears of the plan before anything runs.
        tell: hears of each trial as it ends.

    Raises:
        InputError: the subject lacks something that the experiment needs.
        ConfigError: the arms differ in more than one variable.
        Stopped: Ctrl-C, passed on once all processes are gone and what is known has been recorded.
    """
    if isinstance(one, str):
        one = find_experiment(one)
    protocol, start = protocol or Protocol(), time.monotonic()
    stage: Stage | None = next_stage(one, subject, ())
    assert stage is not None
    made = stage.plan(one, subject, protocol, datetime.now(UTC).isoformat(timespec="seconds"))
    path = None if folder is None else write_plan(made, folder)
    if planned is not None:
        planned(made)
    done: list[Result] = []
    while stage is not None:
        made = stage.plan(one, subject, protocol, made.made)
        left = None if seconds is None else max(seconds - (time.monotonic() - start), 0.0)
        if done and left == 0.0:
            done[-1] = with_notes(done[-1], "the time granted was over before another stage: give a larger --budget")
            break
        conduct = Conduct(one, made, executor or Local(), limits or LIMITS, left, tell, protocol.seeds)
        try:
            done.append(stage.said(conduct.go()))
        except KeyboardInterrupt:
            known = together([*done, conduct.interrupted()])
            if path is not None:
                write(known, path)
            raise Stopped(_kept(known, path)) from None
        stage = next_stage(one, subject, done)
    result = together(done)
    if path is not None:
        write(result, path)
    return result
