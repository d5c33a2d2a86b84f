"""`probe_tokens`: climb the ladder with one trainer of language models and say which part of it does not work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ...check import look_at_all
from ...errors import InputError
from ...inspection import Inspection, inspection
from ...isolation import How, Limits, run
from .climbing import climb, last_of
from .outcome import TokenOutcome, from_plain
from .reaching import reach
from .rungs import token_rungs
from .trial import TokenTrial

FAMILY = "token-probes"
TASK = "firstbreak.probes.tokens.child:climb_in_child"
LIMITS = Limits(seconds=900.0, silence_s=120.0)


def probe_tokens(
    trainer: str | Callable[..., Any],
    *,
    steps: int | None = None,
    seed: int = 0,
    everything: bool = False,
    seconds: float = 300.0,
    limits: Limits | None = None,
    isolate: bool = True,
    tell: Callable[[TokenOutcome], None] | None = None,
) -> Inspection:
    """Climb the ladder with `trainer` and return what was found.

    Args:
        trainer: `module:train`, `file.py:train`, `trl:GRPO`, `trl:RLOO`, `trl:PPO`, `language:NAME`; with
            `isolate=False` also the function.
        steps: optimiser steps of the first training of a rung.
        seed: the first seed; a wrong answer is confirmed on the next one, with three times the steps.
        everything: climb on above a rung that fails.
        seconds: the longest that one training may take.
        limits: seconds of the whole climb, seconds without a sign of life, bytes of the child.
        isolate: run in a child process.
        tell: hears of each training as it ends.

    Raises:
        InputError: there is no such trainer, or it cannot be called as the ladder calls it.
    """
    start = time.monotonic()
    trial, notes = TokenTrial(), list[str]()
    name = trainer if isinstance(trainer, str) else getattr(trainer, "__name__", "trainer")

    def hear(outcome: TokenOutcome) -> None:
        trial.outcomes.append(outcome)
        if tell is not None:
            tell(outcome)

    if not isolate:
        climb(reach(trainer, steps), seed=seed, everything=everything, seconds=seconds, tell=hear)
    elif isinstance(trainer, str):
        notes = _in_child(trainer, steps, seed, everything, seconds, limits or LIMITS, hear)
    else:
        raise InputError(
            "A child process cannot import a function that has no address.", "Give module:train, or isolate=False."
        )
    looks = look_at_all(FAMILY, trial)
    return inspection(FAMILY, name, looks, details=_details(trial, start), notes=notes)


def _in_child(
    trainer: str,
    steps: int | None,
    seed: int,
    everything: bool,
    seconds: float,
    limits: Limits,
    hear: Callable[[TokenOutcome], None],
) -> list[str]:
    done: list[TokenOutcome] = []
    under_way = ["", 0]

    def listen(message: dict[str, Any]) -> None:
        if message["kind"] == "outcome":
            done.append(from_plain(message["outcome"]))
            hear(done[-1])
            under_way[:] = ["", 0]
        elif message["kind"] == "beat":
            under_way[:] = [str(message["rung"]), int(message["scored"])]

    payload = {"trainer": trainer, "steps": steps, "seed": seed, "everything": everything, "seconds": seconds}
    ending = run(TASK, payload, limits=limits, hear=listen)
    if ending.how is How.FINISHED:
        return []
    if ending.how is How.RAISED and not done:
        raise InputError(f"{trainer} could not be tried: {ending.message}", (ending.trace or ending.printed)[-600:])
    reached = {outcome.rung for outcome in done}
    rung = str(under_way[0]) or next((name for name in token_rungs() if name not in reached), "")
    cut = TokenOutcome(
        rung, seed, 0, ending.how.value, ending.message, (ending.trace or ending.printed)[-2000:], int(under_way[1])
    )
    hear(cut)
    return [f"the climb ended early ({ending.how.value}: {ending.message})"]


def _details(trial: TokenTrial, start: float) -> dict[str, Any]:
    rows: list[list[Any]] = []
    for name, rung in token_rungs().items():
        for one in last_of(trial.outcomes, name):
            answer = rung.state(one.numbers) if one.finished else one.ended
            obtained = f"{rung.shows} {one.numbers[rung.shows]:.3g}" if one.finished else one.message[:60]
            rows.append([name, answer, rung.expected, obtained, one.steps, round(one.seconds, 1)])
    columns = ["rung", "answer", "expected", "obtained", "steps", "s"]
    return {
        "tables": [{"title": "The ladder", "columns": columns, "rows": rows}],
        "outcomes": [{"rung": o.rung, "ended": o.ended, "numbers": o.numbers} for o in trial.outcomes],
        "trainings": sum(o.ended != "not_asked" for o in trial.outcomes),
        "seconds": round(time.monotonic() - start, 2),
        "failures": [{"rung": o.rung, "how": o.ended, "message": o.message, "trace": o.trace} for o in trial.crashes],
    }
