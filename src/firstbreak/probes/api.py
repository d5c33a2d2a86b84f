"""`probe`: climb the ladder with one trainer and say which part of it does not work."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ..check import Look, look_at_all
from ..errors import InputError, insist_seed
from ..inspection import Inspection, inspection
from ..isolation import Limits
from .adapters.reaching import reach
from .ladder.rungs import rungs
from .ladder.trial import Order, Row, Trial
from .logs.telling import log_notes, log_table
from .running.children import Children
from .running.here import Here

FAMILY = "probes"


def probe(
    trainer: str | Callable[..., Any] = "",
    *,
    script: str | None = None,
    settings: Mapping[str, Any] | None = None,
    steps: int | None = None,
    seed: int = 0,
    everything: bool = False,
    jobs: int = 2,
    limits: Limits | None = None,
    isolate: bool = True,
    tell: Callable[[Row], None] | None = None,
) -> Inspection:
    """Climb the ladder with `trainer` and return what was found.

    Args:
        trainer: `module:train`, `file.py:train`, `sb3:NAME`; with `isolate=False` also the function itself.
        script: a command with `{env_id}`, `{steps}` and `{seed}` in the place of a trainer.
        settings: constructor arguments of an SB3 algorithm, or further keyword arguments of a function.
        steps: environment steps of the first try of a rung; by default what suits the trainer.
        seed: the first seed; a wrong answer is confirmed on the next one.
        everything: climb on above a rung that fails.
        jobs: trainings at a time.
        limits: seconds of one training, seconds without a step, bytes of one child.
        isolate: run in child processes; False runs in this one, without limits on memory or silence.
        tell: hears of each rung as it is judged.

    Raises:
        InputError: there is no such trainer, or it cannot be called as the ladder calls it.
    """
    insist_seed(seed)
    limits = limits or Limits(seconds=300.0, silence_s=60.0)
    start = time.monotonic()
    if script:
        from .adapters.script import Scripted

        runner: Any = Scripted(script, steps, limits)
        name = script
    elif not isolate:
        runner = Here(reach(trainer, settings, steps), limits.seconds)
        name = trainer if isinstance(trainer, str) else getattr(trainer, "__name__", "trainer")
    elif isinstance(trainer, str) and trainer:
        runner = Children(trainer, settings, steps, limits, jobs)
        runner.order_ahead([Order(r.name, kind, seed) for r in rungs().values() for kind in r.kinds])
        name = trainer
    else:
        raise InputError(
            "A child process cannot import a function that has no address.", "Give module:train, or isolate=False."
        )
    trial = Trial(runner, seed=seed, everything=everything, tell=tell)
    try:
        looks = look_at_all(FAMILY, trial)
        if getattr(runner, "fault", None) is not None:
            raise runner.fault
    finally:
        close = getattr(runner, "close", None)
        if close is not None:
            close()
    return inspection(FAMILY, name, looks, details=_details(trial, start), notes=_notes(trial, looks))


def _details(trial: Trial, start: float) -> dict[str, Any]:
    return {
        "rungs": [asdict(row) for row in trial.rows],
        "tables": [_table(trial), *log_table(trial)],
        "seconds": round(time.monotonic() - start, 2),
        "trainings": len(trial.outcomes),
        "env_steps": sum(o.steps for o in trial.outcomes),
        "failures": [
            {"rung": o.rung, "kind": o.kind, "how": o.ended, "call": o.call, "message": o.message, "trace": o.trace}
            for o in trial.crashes
        ],
    }


def _table(trial: Trial) -> dict[str, Any]:
    rows = [[r.rung, r.kind, r.answer, r.expected, r.obtained, round(r.seconds, 1)] for r in trial.rows]
    return {"title": "The ladder", "columns": ["rung", "actions", "answer", "expected", "obtained", "s"], "rows": rows}


def _notes(trial: Trial, looks: list[Look]) -> list[str]:
    del looks
    broken = {o.message for o in trial.crashes}  # what fails in every space alike does not refuse one
    spaces = sorted({o.kind for o in trial.refusals if o.message not in broken} - trial.taken)
    notes = [f"does not take {kind} actions; those variants do not concern it" for kind in spaces]
    if trial.gamma is not None:
        notes.append(f"the trainer does not say its discount; its values imply {trial.gamma:.3g}")
    copies = getattr(trial.runner, "copies", "")
    return [*filter(None, [copies]), *notes, *log_notes(trial)]
