"""Climbing: train on one rung after the other, confirm a wrong answer with more steps on another seed."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from .model import BadPolicy, Policy, Uniform
from .outcome import TokenOutcome
from .rung import TokenRung
from .rungs import token_rungs
from .task import TokenTask, TooSlow

AGAIN = 3
"""How many times the steps the second training of a rung gets."""
STEPS = 40
"""Optimiser steps of the first training, where the trainer does not say `steps`. Engineering default."""


@dataclass(frozen=True)
class Reached:
    """A trainer that can be called, and what is known of it."""

    train: Callable[..., Any]
    takes_beta: bool
    steps: int = STEPS


def climb(
    reached: Reached,
    *,
    seed: int = 0,
    everything: bool = False,
    seconds: float = 0.0,
    tell: Callable[[TokenOutcome], None] | None = None,
    beat: Callable[[str, int], None] | None = None,
) -> list[TokenOutcome]:
    """Train on every rung, lowest first; above one that fails only those that do not need it.

    `tell` hears of each training as it ends, `beat` the rung and the completions scored so far.
    """
    outcomes: list[TokenOutcome] = []
    failed: set[str] = set()

    def add(outcome: TokenOutcome) -> TokenOutcome:
        outcomes.append(outcome)
        if tell is not None:
            tell(outcome)
        return outcome

    for rung in token_rungs().values():
        below = [name for name in rung.needs if name in failed]
        if below and not everything:
            failed.add(rung.name)
            add(TokenOutcome(rung.name, seed, 0, "not_asked", f"the rung below is not passed: {below[0]}"))
            continue
        if rung.wants_beta and not reached.takes_beta:
            add(TokenOutcome(rung.name, seed, 0, "not_asked", "the trainer takes no beta"))
            continue
        first = add(_train(reached, rung, seed, 1, seconds, beat))
        if first.finished and rung.state(first.numbers) == "right":
            continue
        if first.finished:
            first = add(_train(reached, rung, seed + 1, AGAIN, seconds, beat))
        if not first.finished or rung.state(first.numbers) != "right":
            failed.add(rung.name)
    return outcomes


def _train(
    reached: Reached,
    rung: TokenRung,
    seed: int,
    factor: int,
    seconds: float,
    beat: Callable[[str, int], None] | None,
) -> TokenOutcome:
    import random

    import numpy as np
    import torch

    cast(Any, torch).manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)
    start = time.monotonic()

    def hear(scored: int) -> None:
        if beat is not None:
            beat(rung.name, scored)
        if seconds and time.monotonic() - start > seconds:
            raise TooSlow(f"{time.monotonic() - start:.0f} s")

    task = rung.task()
    task.seed, task.beat = seed, hear
    steps = int(reached.steps * rung.effort * factor)
    keywords: dict[str, Any] = {"beta": task.beta} if reached.takes_beta else {}
    numbers: Mapping[str, float] = {}
    try:
        found = reached.train(task, steps=steps, seed=seed, **keywords)
        numbers = _read(rung, task, found)
        ended, message, trace = "finished", "", ""
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        ended, message = _failure(error, task), f"{type(error).__name__}: {error}"[:1000]
        trace = traceback.format_exc()[-4000:]
    passed = time.monotonic() - start
    return TokenOutcome(rung.name, seed, steps, ended, message, trace, task.scored, passed, dict(numbers))


def _read(rung: TokenRung, task: TokenTask, found: Any) -> Mapping[str, float]:
    answers = found if hasattr(found, "logits") or callable(found) else getattr(found, "model", found)
    trained = Policy(answers, task.end_id, task.vocabulary)
    width = trained.first(task.prompts[0]).shape[-1]
    first: Any = task.model(task.made[0]) if task.made else getattr(found, "start", None) or Uniform(width)
    return rung.read(trained, Policy(first, task.end_id, task.vocabulary), task)


def _failure(error: BaseException, task: TokenTask) -> str:
    if isinstance(error, TooSlow):
        return "too_slow"
    if isinstance(error, BadPolicy):
        return "bad_policy"
    return "refused" if task.scored == 0 else "raised"


def last_of(outcomes: Sequence[TokenOutcome], rung: str) -> list[TokenOutcome]:
    """The trainings of one rung, in order."""
    return [outcome for outcome in outcomes if outcome.rung == rung]
