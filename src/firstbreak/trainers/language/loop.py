"""The loop that every trainer here runs: collect, update, evaluate now and then, log."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

Log = Callable[[dict[str, float], int], Any]
"""Called with metrics and updates; an answer whose `stop_training` is true ends the training."""


def run(trainer: Any, updates: int, log: Log | None) -> None:
    """Make this many updates more; `log(metrics, update)` after each.

    `trainer` has `collect`, `update`, `evaluate`, `updates`, `tokens`, `stopwatch` and `config`.
    """
    began, config = perf_counter(), trainer.config
    for _ in range(updates):
        start, before = perf_counter(), trainer.tokens
        metrics: dict[str, float] = trainer.update(trainer.collect())
        if config.eval_every and trainer.updates % config.eval_every == 0:
            metrics |= trainer.evaluate()
        if log is None:
            continue
        step_s = perf_counter() - start
        pace = {"time/step": step_s, "time/elapsed_s": perf_counter() - began}
        pace["perf/tokens_per_sec"] = (trainer.tokens - before) / step_s
        answer = log({**metrics, **trainer.stopwatch.drain(), **pace}, trainer.updates)
        if getattr(answer, "stop_training", False):
            return
