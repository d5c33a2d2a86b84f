"""What an experiment asks of its subject: what is indispensable, and what else may be given with `--with`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import InputError


@dataclass(frozen=True)
class Need:
    """Something that the subject must offer: its `name` in `Subject.given`, and in words how to give it."""

    name: str
    how: str


@dataclass(frozen=True)
class Option:
    """Something that may be given with `--with NAME=VALUE`; its `name`, and what it is.

    A name that begins with `*` stands for all with that ending: `*_setting` for `learning_rate_setting`.
    """

    name: str
    what: str
    choices: tuple[str, ...] = ()
    """The only values, where there are but a few."""
    number: bool = False
    """Whether the value is a number."""
    least: int | None = None
    """The least that it may be, where it is a whole number."""
    positive: bool = False
    """Whether it is a number above 0."""

    def insist(self, name: str, value: Any) -> None:
        """Insist that `value` may be given under `name`, before anything runs.

        Raises:
            InputError: it is none of the choices, no number, or too small.
        """
        if self.choices and value not in self.choices:
            raise InputError(f"{name}={value} is not known.", f"One of: {', '.join(self.choices)}.")
        if not self.number and not self.positive and self.least is None:
            return
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"{name}={value} is no number.", f"It is {self.what}.")
        if self.positive and value <= 0:
            raise InputError(f"{name}={value} is not above 0.", f"It is {self.what}.")
        if self.least is not None and (not float(value).is_integer() or value < self.least):
            raise InputError(f"{name}={value} is no whole number from {self.least} on.", f"It is {self.what}.")

    def means(self, name: str) -> bool:
        """Whether `name` is this option."""
        ending = self.name.removeprefix("*")
        return name == self.name if ending == self.name else name.endswith(ending) and name != ending
