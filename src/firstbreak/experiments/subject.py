"""`Subject`: what is experimented on. Plain data, because it crosses the border of a process and is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from .experiment import Experiment


@dataclass(frozen=True)
class Subject:
    """A trainer, its task and its settings, by their addresses; and whatever else an experiment asks for, by name."""

    trainer: str = ""
    """`module:train`, `file.py:train`, `sb3:ALGO`, `torchrl:module:make`; empty where nothing is trained."""
    env: str = ""
    """A Gymnasium id or `module:factory`."""
    steps: int | None = None
    """Environment steps of one training; by default what suits the trainer."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Keyword arguments for the trainer, the same in both arms."""
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What else was given, by name: `expect`, `expert`, `episodes` ... Each experiment says what it needs."""

    @property
    def name(self) -> str:
        """What it is called in a report."""
        return " on ".join(part for part in (self.trainer, self.env) if part) or "the subject"

    def offers(self, name: str) -> bool:
        """Whether `name` (`trainer`, `env` or a key of `given`) was given."""
        if name in ("trainer", "env"):
            return bool(getattr(self, name))
        return self.given.get(name) is not None

    def insist(self, one: Experiment) -> None:
        """Insist that everything that `one` needs was given.

        Raises:
            InputError: something is missing; the hint says how to give it.
        """
        missing = [need for need in one.needs if not self.offers(need.name)]
        if missing:
            what = ", ".join(need.name for need in missing)
            raise InputError(f"{one.name} needs {what}.", "; ".join(need.how for need in missing))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data; `Subject(**data)` is the inverse."""
        return asdict(self)
