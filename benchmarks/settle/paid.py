"""The environments of recorded runs, by name, as they pay: what an experiment on the reward itself has to see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.settle.worlds import factory


def __getattr__(name: str) -> Callable[[], Any]:
    make = factory(name)

    def paying() -> Any:
        copy = make()
        copy.training = True
        return copy

    return paying
