"""`Trial`: one trainer on the ladder. Lazy: a check asks for a training, the runner has it under way or starts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from ..environments.world import Kind
from .outcome import Outcome


@dataclass(frozen=True)
class Order:
    """One training to be done: which rung, which action space, which seed, how many times the first try's steps."""

    rung: str
    kind: Kind
    seed: int
    factor: int = 1


class Runner(Protocol):
    """Does trainings: in children or in this process."""

    def get(self, orders: Iterable[Order]) -> list[Outcome]:
        """Return the outcomes of `orders`, side by side where it can."""
        ...

    def stop(self) -> None:
        """Leave undone whatever nobody has asked for yet."""
        ...


@dataclass
class Row:
    """What the report's table says of one rung and one action space."""

    rung: str
    kind: Kind
    answer: str
    """right, wrong, slow, failed, not asked."""
    expected: str = ""
    obtained: str = ""
    seconds: float = 0.0
    steps: int = 0
    says: str = ""


@dataclass
class Trial:
    """The trainings of one trainer, and what the rungs below have found."""

    runner: Runner
    seed: int = 0
    everything: bool = False
    tell: Callable[[Row], None] | None = None
    failed: list[str] = field(default_factory=list[str])
    """Names of rungs whose answer is wrong or whose training failed, in order."""
    crashes: list[Outcome] = field(default_factory=list[Outcome])
    """Trainings that raised, hung or died."""
    refusals: list[Outcome] = field(default_factory=list[Outcome])
    taken: set[Kind] = field(default_factory=set[Kind])
    """Action spaces on which a training has ended well."""
    gamma: float | None = None
    """The discount that the values imply, where the trainer does not say."""
    rows: list[Row] = field(default_factory=list[Row])
    outcomes: list[Outcome] = field(default_factory=list[Outcome])

    def get(self, orders: list[Order]) -> list[Outcome]:
        """Return the outcomes of `orders`."""
        outcomes = self.runner.get(orders)
        self.outcomes += outcomes
        return outcomes

    def add(self, row: Row) -> None:
        """Add a row to the table."""
        self.rows.append(row)
        if self.tell is not None:
            self.tell(row)

    def fail(self, rung: str) -> None:
        """Note that `rung` failed; unless everything is wanted, nothing above it is trained."""
        self.failed.append(rung)
        if not self.everything:
            self.runner.stop()
