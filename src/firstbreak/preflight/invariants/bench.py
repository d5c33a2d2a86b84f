"""`Bench`: a trainer's pieces on the bench, with what has been measured on them so far. The subject of every check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from ...check import Answer
from ...finding import Skip
from .pieces import Pieces
from .restore import restore

Result = TypeVar("Result")

ON_POLICY = ("PPO", "A2C", "MM-RKHS")
CONTINUOUS_Q = ("SAC", "TD3", "DDPG")
"""Algorithms that learn Q of an action that an actor chooses."""
OFF_POLICY = ("DQN", *CONTINUOUS_Q)


class CannotLookError(Exception):
    """Raised by a measurement that lacks something; carries the answer of the checks that need it."""

    def __init__(self, skip: Skip) -> None:
        super().__init__(skip.reason)
        self.skip = skip


@dataclass
class Bench:
    """Measurements are made once, each with the trainer put back afterwards."""

    pieces: Pieces
    seed: int = 0
    kept: dict[Any, Any] = field(default_factory=dict[Any, Any])

    @property
    def on_policy(self) -> bool:
        """Whether the trainer learns from fresh rollouts."""
        return self.pieces.algorithm in ON_POLICY

    def once(self, measure: Callable[[Bench], Result]) -> Result:
        """Return what `measure` finds; it is run at most once.

        Raises:
            CannotLookError: the measurement lacks a piece.
        """
        if measure not in self.kept:
            try:
                with restore(self.pieces, self.seed):
                    self.kept[measure] = measure(self)
            except CannotLookError as error:
                self.kept[measure] = error
        found = self.kept[measure]
        if isinstance(found, CannotLookError):
            raise found
        return found

    def need(self, *names: str) -> None:
        """Insist that the pieces `names` are there.

        Raises:
            CannotLookError: one is missing.
        """
        missing = tuple(f"pieces.{n}" for n in names if getattr(self.pieces, n) in (None, (), []))
        if missing:
            raise CannotLookError(Skip(f"the trainer shows no {', '.join(m[7:] for m in missing)}", missing))

    def setting(self, name: str) -> Any:
        """The setting `name`.

        Raises:
            CannotLookError: it is not known.
        """
        if name not in self.pieces.settings:
            raise CannotLookError(Skip(f"the setting {name} is not known", (f"pieces.settings[{name!r}]",)))
        return self.pieces.settings[name]

    def only(self, *algorithms: str) -> None:
        """Insist that the trainer is one of `algorithms`.

        Raises:
            CannotLookError: it is another; nothing would change that.
        """
        if self.pieces.algorithm not in algorithms:
            raise CannotLookError(Skip(f"does not concern {self.pieces.algorithm}"))


def cannot(reason: str, *unlock: str) -> CannotLookError:
    """Build the error of a measurement that cannot be made."""
    return CannotLookError(Skip(reason, unlock))


def skips(look: Callable[[Bench], Answer]) -> Callable[[Bench], Answer]:
    """Let a check end in `Skip` where its measurement cannot be made, and put the trainer back after each look."""

    @wraps(look)
    def safe(bench: Bench) -> Answer:
        try:
            with restore(bench.pieces, bench.seed):
                return look(bench)
        except CannotLookError as error:
            return error.skip

    return safe
