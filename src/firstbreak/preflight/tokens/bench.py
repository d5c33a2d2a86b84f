"""`TokenBench`: a trainer's token pieces, with what has been measured on them so far. The subject of every check."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from ...check import Answer
from ..invariants.bench import CannotLookError, cannot
from ..invariants.pieces import Pieces
from ..invariants.restore import restore
from .pieces import TokenPieces

Result = TypeVar("Result")

PARTS_OF_PPO = {"token_rewards", "gae", "whiten", "values"}
PARTS_OF_GROUPS = {"advantages"}


@dataclass
class TokenBench:
    """Measurements are made once, each with the trainer put back afterwards."""

    pieces: TokenPieces
    seed: int = 0
    kept: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def once(self, measure: Callable[[TokenBench], Result]) -> Result:
        """Return what `measure` finds; it is run at most once.

        Raises:
            CannotLookError: the measurement lacks a piece.
        """
        if measure not in self.kept:
            try:
                with self.put_back():
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
        missing = [name for name in names if getattr(self.pieces, name) is None]
        foreign = PARTS_OF_GROUPS if self.pieces.algorithm == "PPO" else PARTS_OF_PPO
        if missing and foreign.issuperset(missing):
            raise cannot(f"does not concern {self.pieces.algorithm}")
        if missing:
            raise cannot(f"the trainer shows no {', '.join(missing)}", *(f"pieces.{name}" for name in missing))

    def setting(self, name: str) -> Any:
        """The setting `name`.

        Raises:
            CannotLookError: it is not known.
        """
        if name not in self.pieces.settings:
            raise cannot(f"the setting {name} is not known", f"pieces.settings[{name!r}]")
        return self.pieces.settings[name]

    @contextmanager
    def put_back(self) -> Generator[None, None, None]:
        """Within, do with the trainer what you like; afterwards it is as before."""
        pieces = self.pieces
        held = Pieces(
            pieces.algorithm,
            actor=pieces.model,
            target_critics=() if pieces.reference is None else (pieces.reference,),
            optimisers=() if pieces.optimiser is None else (pieces.optimiser,),
        )
        with restore(held, self.seed):
            yield


def skips(look: Callable[[TokenBench], Answer]) -> Callable[[TokenBench], Answer]:
    """Let a check end in `Skip` where its measurement cannot be made, and put the trainer back after each look."""

    @wraps(look)
    def safe(bench: TokenBench) -> Answer:
        try:
            with bench.put_back():
                return look(bench)
        except CannotLookError as error:
            return error.skip

    return safe
