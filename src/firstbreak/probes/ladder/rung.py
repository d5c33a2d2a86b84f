"""`Rung`: one environment, its closed-form answer, and which mistake leads to which wrong answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ...finding import Component, Link
from ..environments.world import KINDS, Kind, World

Asks = Literal["value", "choice", "action", "return"]
"""What is judged: the value of each state, the right cell in each state, the deterministic action itself, or, of a
script whose steps nobody saw, the return that it logs."""


@dataclass(frozen=True)
class Wrong:
    """An answer that a certain mistake leads to."""

    answer: tuple[float, ...]
    """The value of each state, the cell chosen in each state, or the action."""
    says: str
    """The mistake in plain words, at most 60 characters."""
    component: Component
    link: Link = Link.CRITIC


@dataclass(frozen=True)
class Answers:
    """The right answer of a rung and the wrong ones that have a name."""

    right: tuple[float, ...]
    wrong: tuple[Wrong, ...] = ()


@dataclass(frozen=True)
class Rung:
    """One step of the ladder."""

    name: str
    adds: str
    """The one component that it adds to the rungs below, in a few words."""
    world: World
    asks: Asks
    answers: Callable[[float, bool], Answers]
    """The answers for a discount and for a trainer that has Q values (True) or state values only (False)."""
    judged: tuple[int, ...]
    """The states that are judged, in the order of the answers."""
    gamma: float = 0.5
    effort: float = 1.0
    """Steps of the first try, as a multiple of the ladder's."""
    needs: tuple[str, ...] = ()
    """Names of the lower rungs without which this one says nothing."""
    closeness_frac: float = 0.25
    """Tolerance as a fraction of the distance between the right answer and the nearest wrong one."""
    kinds: tuple[Kind, ...] = KINDS
    concerns: Literal["all", "several_copies"] = "all"
    endless: bool = False
    """Whether values grow like 1/(1 - gamma), so that a trainer with a large discount of its own needs more steps."""
    tells_gamma: bool = False
    """Whether the last two judged states are a step apart and the last one is worth its reward: V ratio is gamma."""
    discrete: Callable[[], Answers] | None = None
    """For `asks="action"`: the answers of the discrete variant."""

    @property
    def starts(self) -> tuple[int, ...]:
        """The states that episodes begin in."""
        return self.world.starts

    def for_kind(self, kind: str, answers: Answers) -> Answers:
        """Return the answers of this action space."""
        return self.discrete() if kind == "discrete" and self.discrete is not None else answers


def target_maker(has_q: bool) -> Component:
    """Return where targets are computed: in the value loss of a Q learner, in the advantages of an actor-critic."""
    return Component.VALUE if has_q else Component.ADVANTAGE
