"""Changing attributes of somebody's object for a while."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

MISSING = object()


@contextmanager
def kept_attributes(thing: Any, *names: str) -> Generator[None, None, None]:
    """Within, set the attributes `names` as you like; afterwards they are as before."""
    before = {name: getattr(thing, name, MISSING) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is not MISSING:
                setattr(thing, name, value)
            elif hasattr(thing, name):
                delattr(thing, name)


@contextmanager
def kept_numbers(thing: Any) -> Generator[None, None, None]:
    """Within, counters may run; afterwards every plain number, text and None of `thing` is as before."""
    plain = (bool, int, float, str, type(None))
    held = cast(dict[str, Any], vars(thing))
    before = {name: value for name, value in held.items() if isinstance(value, plain)}
    try:
        yield
    finally:
        held.update(before)


def moves_its_own_way(trainer: Any) -> bool:
    """Whether a derived class has a way of its own of moving the target, whose fraction no setting names."""
    return not str(trainer.sync_target.__module__).startswith("firstbreak.trainers.")
