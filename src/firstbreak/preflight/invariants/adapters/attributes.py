"""Changing attributes of somebody's object for a while."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
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


@contextmanager
def without_kl_limit(trainer: Any) -> Generator[None, None, None]:
    """Within, an update of a reference trainer is not ended early by a limit on the KL."""
    config = trainer.config
    if getattr(config, "target_kl", None) is not None:
        trainer.config = replace(config, target_kl=None)
    try:
        yield
    finally:
        trainer.config = config


@contextmanager
def listening(thing: Any, name: str, heard: list[Any]) -> Generator[None, None, None]:
    """Within, the first argument of each call of the method `name` of `thing` is copied to `heard`."""
    held = cast(dict[str, Any], vars(thing))
    own, method = held.get(name, MISSING), getattr(thing, name)

    def listen(first: Any, *args: Any, **more: Any) -> Any:
        heard.append(first.clone() if hasattr(first, "clone") else first)
        return method(first, *args, **more)

    held[name] = listen
    try:
        yield
    finally:
        if own is MISSING:
            del held[name]
        else:
            held[name] = own


def moves_its_own_way(trainer: Any) -> bool:
    """Whether a derived class has a way of its own of moving the target, whose fraction no setting names."""
    return not str(trainer.sync_target.__module__).startswith("firstbreak.trainers.")
