"""Holding torch's optimisers still from outside: every step is taken with learning rate 0."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any


@dataclass
class Steps:
    """How many optimiser steps were seen."""

    seen: int = 0


@contextmanager
def held_still() -> Generator[Steps, None, None]:
    """Within, every step of any torch optimiser is counted and taken with learning rate 0.

    The learning rate that the trainer set is put back after each step, so that schedules go on undisturbed. Where torch
    is not installed nothing is done.
    """
    steps = Steps()
    if "torch" not in sys.modules and find_spec("torch") is None:
        yield steps
        return
    hooks: Any = importlib.import_module("torch.optim.optimizer")
    kept: dict[int, list[Any]] = {}

    def before(one: Any, args: Any, keywords: Any) -> None:
        del args, keywords
        steps.seen += 1
        kept[id(one)] = [group["lr"] for group in one.param_groups]
        for group in one.param_groups:
            group["lr"] = _zero(group["lr"])

    def after(one: Any, args: Any, keywords: Any) -> None:
        del args, keywords
        for group, rate in zip(one.param_groups, kept.pop(id(one), []), strict=False):
            group["lr"] = rate

    handles = [
        hooks.register_optimizer_step_pre_hook(before),
        hooks.register_optimizer_step_post_hook(after),
    ]
    try:
        yield steps
    finally:
        for handle in handles:
            handle.remove()


def _zero(rate: Any) -> Any:
    """0, as a tensor where the rate is one (capturable optimisers)."""
    return rate * 0 if hasattr(rate, "detach") else 0.0
