"""Making a run smaller: the fewest steps, the smallest batch or model with which the symptom still shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from .differences import ABSENT, value_at, with_value
from .tries import Spent

FINE = 1.25
"""The search ends when the smallest size that is enough and the largest that is not are this close, as a ratio.
Engineering default."""


@dataclass(frozen=True)
class Size:
    """A setting that says how long or large a run is, and the least value that makes sense."""

    key: str
    """In dots."""
    least: float = 1.0
    multiple_of: int = 1
    """Values are rounded to multiples of it, where the setting is a whole number."""

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of the key."""
        return tuple(self.key.split("."))


def smallest(
    config: Mapping[str, Any], sizes: tuple[Size, ...], shows: Callable[[Mapping[str, Any]], bool]
) -> tuple[dict[str, Any], dict[str, tuple[float, float]], tuple[str, ...]]:
    """Make one size after the other as small as the symptom allows.

    A size is halved until the symptom is gone, then searched between the last two, on a logarithmic scale. It is taken
    for granted that what shows it with a size shows it with every larger one; where that is not so, a size that is
    enough is found, not the smallest.

    Returns:
        The configuration, for each size that shrank what it was and is, and what to know.
    """
    here: dict[str, Any] = dict(config)
    made: dict[str, tuple[float, float]] = {}
    for size in sizes:
        value = value_at(here, size.path)
        if value is ABSENT or isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{size.key} is not a number in this configuration.", "Sizes are numbers, keys in dots.")
        try:
            for enough in _steps(here, size, value, shows):
                here = with_value(here, size.path, enough)
                made[size.key] = (value, enough)
        except Spent:
            return here, made, ("The budget was spent before every size was as small as it can be.",)
    return here, made, ()


def _steps(config: Mapping[str, Any], size: Size, value: float, shows: Callable[[Mapping[str, Any]], bool]) -> Any:
    """Yield ever smaller values that are enough."""
    enough, too_small = value, 0.0
    while enough > size.least and (not too_small or enough > FINE * too_small):
        tried = _rounded((enough * too_small) ** 0.5 if too_small else max(enough / 2, size.least), size, value)
        if not too_small < tried < enough or tried < size.least:
            return
        if shows(with_value(config, size.path, tried)):
            enough = tried
            yield enough
        else:
            too_small = tried


def _rounded(value: float, size: Size, like: float) -> float:
    """Return `value` as the setting is written: a whole number where it was one."""
    if not isinstance(like, int):
        return value
    return max(round(value / size.multiple_of), 1) * size.multiple_of
