"""Make one run: train, measure what it cost, and put it into the form of the corpus."""

from __future__ import annotations

import importlib
import platform
import signal
import time
import warnings
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from random import Random
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.catalogue import Task, checksum, tasks
from benchmarks.faults.plans import EARLIEST, LATEST, Plan
from benchmarks.faults.planting import FAMILY
from benchmarks.faults.recording import SCHEMA, Recording, plain

ALGORITHM = {
    "sb3_ppo": "PPO", "sb3_a2c": "A2C", "sb3_dqn": "DQN", "sb3_sac": "SAC", "ppo": "PPO", "dqn": "DQN", "sac": "SAC",
    "mmrkhs": "MM-RKHS", "grpo": "GRPO", "rlhf_ppo": "PPO", "async_grpo": "GRPO", "tool_agent": "GRPO",
    "trl_grpo": "GRPO",
}  # fmt: skip
FRAMEWORK = {"sb3": "sb3", "reference": "firstbreak", "language": "firstbreak", "trl_grpo": "trl"}
PACKAGES = ("torch", "torchrl", "stable_baselines3", "gymnasium", "trl", "transformers", "numpy")
LIMIT_S = 240.0
"""CPU seconds after which a run is stopped; four times what one may cost at the median."""


class TooLong(Exception):
    """A run took more CPU time than it may."""


def made(plan: Plan, total: int | None = None) -> dict[str, Any]:
    """Train once. A training that dies of its fault is a result, too; one that dies without it is an error.

    Args:
        plan: What to train.
        total: Steps, where they are to be other than the task's.
    """
    import torch

    torch.set_num_threads(1)
    task = tasks()[f"{plan.subject}:{plan.task}"]
    task = task if total is None else replace(task, total=total)
    planting.load(FAMILY[plan.subject])
    subject: Any = importlib.import_module(f"benchmarks.faults.{FAMILY[plan.subject]}")
    recording, died, began = Recording(), "", time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # trainers warn of what was planted
        try:
            with limited(LIMIT_S):
                subject.train(task, plan, switch_frac(plan), recording)
        except (TooLong, Exception) as error:
            if plan.fault is None or before_its_fault(plan, recording) or isinstance(error, ImportError):
                raise
            died = f"{type(error).__name__}: {str(error)[:600]}"
    return in_form(plan, task, recording, died, time.process_time() - began)


def before_its_fault(plan: Plan, recording: Recording) -> bool:
    """Whether a training ended before the fault was switched on, which then was not what ended it."""
    return bool(plan.start_frac) and recording.start_step is None


def switch_frac(plan: Plan) -> float | None:
    """Where what the run is named after is switched on; None for a plain run.

    Hard negatives that are an event (a curriculum, a restart) happen at a random share of the run.
    """
    if plan.fault is not None:
        return plan.start_frac
    if plan.name in planting.WORLD or (plan.name, plan.subject) in planting.TRAINER:
        if plan.name in planting.FROM_THE_START:
            return 0.0
        return round(Random(checksum(plan.id)).uniform(EARLIEST, LATEST), 3)
    return 0.0 if (plan.name, plan.subject) in planting.SETTINGS else None


def in_form(plan: Plan, task: Task, recording: Recording, died: str, cpu_s: float) -> dict[str, Any]:
    """The run as the corpus holds it."""
    started = recording.start_step if plan.fault is not None else None
    return {
        "schema": SCHEMA,
        "id": plan.id,
        "subject": plan.subject,
        "framework": FRAMEWORK[FAMILY[plan.subject]],
        "algorithm": ALGORITHM[plan.subject],
        "task": plan.task,
        "fault": plan.fault,
        "kind": plan.kind,
        "seed": plan.seed,
        "start_frac": plan.start_frac,
        "start_step": None if started is None else plain(started),
        "config": {k: plain(v) if isinstance(v, float) else v for k, v in recording.config.items()},
        "clock": task.clock,
        "keys": {key: [steps, values] for key, (steps, values) in recording.keys.items()},
        "guarded": {
            "keys": {key: [steps, values] for key, (steps, values) in recording.guarded.items()},
            "config": recording.guarded_config,
            "faults": recording.guard_faults,
        },
        "truth": recording.truth(),
        "died": died,
        "cpu_s": round(cpu_s, 2),
        "versions": versions(),
        "end_step": plain(recording.end_step),
    }


def versions() -> dict[str, str]:
    """What it was made with."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


class limited:  # noqa: N801
    """Within, `TooLong` is raised once so much CPU time is used; in the main thread of a process only."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def stop(number: int, frame: Any) -> None:
            raise TooLong(f"more than {self.seconds:g} s of CPU time")

        self.before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def __exit__(self, *error: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, self.before)
