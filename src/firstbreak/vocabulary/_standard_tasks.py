"""What is known of standard tasks by their name: what they can pay, and what random play earns."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ._config import NAMED_BY_RUN, WRAPPED_IN


@dataclass(frozen=True)
class RandomPlay:
    """The return of one episode of evenly random actions: mean, standard deviation, 10 % and 99 % quantile."""

    mean: float
    sd: float
    low: float
    top: float


@dataclass(frozen=True)
class StandardTask:
    """A task whose rewards are bounded by its source: `pays` one step, `returns` one episode, least and most."""

    env_id: str
    pays: tuple[float, float]
    returns: tuple[float, float]
    random: RandomPlay | None


def standard_task(env_id: str) -> StandardTask | None:
    """Return what is known of the task `env_id`; None for any other name, another version of the task included."""
    known = _table("standard_tasks.toml").get(env_id)
    if known is None:
        return None
    played = _table("random_play.toml").get(env_id)
    return StandardTask(
        env_id,
        pays=(float(known["pays"][0]), float(known["pays"][1])),
        returns=(float(known["returns"][0]), float(known["returns"][1])),
        random=RandomPlay(**{name: float(value) for name, value in played.items()}) if played else None,
    )


def pay_text(bounds: tuple[float, float]) -> str:
    """Say what lies within `bounds` in words: `1`, `0 to 500`, `at most 0`."""
    low, high = bounds
    if low == high:
        return f"{low:g}"
    if low == float("-inf"):
        return f"at most {high:g}"
    return f"at least {low:g}" if high == float("inf") else f"{low:g} to {high:g}"


def doubt(config: Callable[[str], Any]) -> str:
    """Say why the name of the task, by the settings, proves less than it says; empty where it proves it.

    Args:
        config: Returns a setting by its name, None where it is not set.
    """
    if config(NAMED_BY_RUN):
        return " (the task is read off the run's name)"
    around = config(WRAPPED_IN)
    return f" ({around} around it may mean to pay otherwise)" if around else ""


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("firstbreak.vocabulary").joinpath(name).read_text("utf-8"))
