"""What was learnt about a reward model: the subject of its checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..verifier.rates import Rate, clustered_rate
from .fits import LengthFit, length_fit
from .pairs import Golden, Pair

Array = NDArray[np.float64]
ONE_SIDED = 0.8
"""Share of pairs whose chosen side is the shorter one, less the share where it is the longer one (or the other way
round), from which on a category shows nothing of length against labels. Engineering default."""


def _nothing() -> Array:
    return np.empty(0)


@dataclass(frozen=True)
class Scored:
    """Pairs with their scores. Arrays are [n], n pairs, and NaN where a score is missing."""

    target: str
    pairs: tuple[Pair, ...] = ()
    chosen: Array = field(default_factory=_nothing)
    rejected: Array = field(default_factory=_nothing)
    again: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """`again`, `singly`, `reversed`: the chosen side's scores of the first pairs [m], asked for in another way."""
    dressed: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Variant -> scores of the chosen side of the first pairs [m] in another dress."""
    golden: tuple[Golden, ...] = ()
    golden_now: Array = field(default_factory=_nothing)
    ended: str = ""
    """Why scoring did not come to its end."""
    left_out: int = 0
    """Rows that are no pairs."""

    @cached_property
    def valid(self) -> NDArray[np.bool_]:
        """Where both scores are finite [n]."""
        return np.isfinite(self.chosen) & np.isfinite(self.rejected)

    @cached_property
    def differences(self) -> Array:
        """Score of chosen minus rejected, of the valid pairs."""
        return (self.chosen - self.rejected)[self.valid]

    @cached_property
    def kept(self) -> list[Pair]:
        """The valid pairs, in the order of `differences`."""
        return [p for p, ok in zip(self.pairs, self.valid, strict=True) if ok]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The row of each valid pair."""
        return np.array([p.row for p in self.kept], np.int64)

    @cached_property
    def log_lengths(self) -> Array:
        """Log length of chosen minus rejected, of the valid pairs, in characters."""
        return np.array([np.log(len(p.chosen) + 1) - np.log(len(p.rejected) + 1) for p in self.kept])

    @cached_property
    def length(self) -> LengthFit | None:
        """How the preference follows length."""
        return length_fit(self.differences, self.log_lengths)

    @cached_property
    def typical(self) -> float:
        """Median size of a score difference that is not zero; what a shift is measured by."""
        sizes = np.abs(self.differences[self.differences != 0])
        return float(np.median(sizes)) if sizes.size else 0.0

    def accuracy(self, where: NDArray[np.bool_] | None = None) -> Rate:
        """Return how often the chosen side scores higher, over the valid pairs (`where` [n valid]); ties do not count
        among them.
        """
        use = np.ones(self.differences.size, bool) if where is None else where
        decided = use & (self.differences != 0)
        return clustered_rate(zip(self.rows[decided].tolist(), (self.differences[decided] > 0).tolist(), strict=True))

    def length_tells(self, where: NDArray[np.bool_] | None = None) -> bool:
        """Return whether the chosen side surely wins where it is the longer one, or where it is the shorter one.

        Over the valid pairs (`where` [n valid]). Labels and sign are then not simply the other way round.
        """
        use = np.ones(self.differences.size, bool) if where is None else where
        sides = (self.accuracy(use & side) for side in (self.log_lengths < 0, self.log_lengths > 0))
        return any(rate.tries > 0 and rate.low > 0.5 for rate in sides)

    def length_would_do(self, where: NDArray[np.bool_]) -> bool:
        """Return whether a preference for length would lose these pairs (`where` [n valid]), too.

        Their chosen side is nearly always the shorter one (or the longer), and elsewhere the model surely prefers the
        other length. Swapped labels and a score of length cannot then be told apart by these pairs.
        """
        inside = np.sign(self.log_lengths[where & (self.differences != 0)])
        if not inside.size or abs(float(inside.mean())) < ONE_SIDED:
            return False
        lost = -float(np.sign(inside.mean()))
        outside = ~where & (self.differences != 0) & (self.log_lengths != 0)
        prefers = np.sign(self.differences) * np.sign(self.log_lengths) == lost
        rate = clustered_rate(zip(self.rows[outside].tolist(), prefers[outside].tolist(), strict=True))
        return rate.tries > 0 and rate.low > 0.5

    def by(self, subset: bool) -> dict[str, Rate]:
        """Return the accuracy of each subset, or of each section; those without a name are left out."""
        return {name: self.accuracy(where) for name, where in self.members(subset).items()}

    def members(self, subset: bool) -> dict[str, NDArray[np.bool_]]:
        """Return which valid pairs [n valid] are of each subset, or of each section."""
        names = np.array([p.subset if subset else p.section for p in self.kept])
        return {str(n): np.asarray(names == n) for n in dict.fromkeys(names.tolist()) if n}

    @property
    def everything(self) -> Array:
        """All scores of both sides that are finite."""
        both = np.concatenate([self.chosen, self.rejected])
        return both[np.isfinite(both)]
