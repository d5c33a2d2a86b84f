"""Two results compared: over the items that both have, over runs, and what was refused and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...series import Floats
from ..protocol.protocol import same_or_refuse
from ..statistics import (
    Interval,
    difference,
    paired_difference,
    probability_of_improvement,
    runs_needed,
)
from .reading import Scores
from .summary import bounds, item_means, run_means


@dataclass(frozen=True)
class Compared:
    """What two results say of each other; differences are other minus one."""

    one: Scores
    other: Scores
    shared_items: int
    only_one: int
    only_other: int
    paired: bool
    over_items: Interval | None
    """Difference of these checkpoints; None when there are not two items."""
    runs: tuple[int, int]
    over_runs: Interval | None
    """Difference of the methods; None when either has a single run."""
    improvement: Interval | None
    """Probability that a run of the other beats a run of the one; None like `over_runs`."""
    items_needed: int | None
    """Items that would show the measured difference with probability 0.8; None when it is zero or beyond reach."""

    lower: bool = False
    """Whether lower scores are better."""

    @property
    def outcome(self) -> str:
        """better, worse or undecided, for the methods where there are runs, else for the checkpoints."""
        found = self.over_runs or self.over_items
        if found is None or found.refused or found.lo <= 0.0 <= found.hi:
            return "undecided"
        return "better" if (found.lo > 0) is not self.lower else "worse"


def compare(
    one: Scores, other: Scores, *, assume_same_protocol: bool = False, lower: bool = False, level: float = 0.95
) -> Compared:
    """Compare two results of one protocol.

    Args:
        one: The result compared with.
        other: The new one.
        assume_same_protocol: The user vouches for it where none was given.
        lower: Lower scores are better, where the protocol does not say.
        level: Coverage of the intervals.

    Raises:
        DifferentProtocolsError: they were measured under different protocols; the fields are named.
        InputError: nothing says under which protocol they were measured, or they share no item.
    """
    _same_protocol(one, other, assume_same_protocol)
    lower = lower_of(one, other, lower)
    a, b = items_of(one), items_of(other)
    shared = [name for name in a if name in b]
    named = "item" in one.columns and "item" in other.columns
    paired = named and len(shared) > 1
    if named and not shared:
        raise InputError(
            "The two results share no item.", "They were measured on different sets: their scores do not compare."
        )
    if paired:
        left, right = np.array([a[n] for n in shared]), np.array([b[n] for n in shared])
    else:
        left, right = item_means(one), item_means(other)
    runs = run_means(one), run_means(other)
    many = min(r.size for r in runs) > 1
    least, most = zip(bounds(one), bounds(other), strict=True)
    widest = max(most) - min(least)  # of passes 1: no two shares lie farther apart
    over_items = _over_items(left, right, paired, level)
    over_runs = difference(runs[1], runs[0], level=level) if many else None
    return Compared(
        one=one,
        other=other,
        shared_items=len(shared) if named else 0,
        only_one=len(a) - len(shared) if named else 0,
        only_other=len(b) - len(shared) if named else 0,
        paired=paired,
        over_items=None if over_items is None else over_items.within(-widest, widest),
        runs=(int(runs[0].size), int(runs[1].size)),
        over_runs=None if over_runs is None else over_runs.within(-widest, widest),
        improvement=probability_of_improvement(*(runs if lower else runs[::-1]), level=level) if many else None,
        items_needed=_items_needed(left, right, paired),
        lower=lower,
    )


def _same_protocol(one: Scores, other: Scores, assume: bool) -> None:
    if one.protocol and other.protocol:
        same_or_refuse(one.protocol, other.protocol)
    elif not assume:
        lacks = list(dict.fromkeys(s.name for s in (one, other) if s.protocol is None))
        raise InputError(
            f"Nothing says under which protocol {' and '.join(lacks)} {'were' if len(lacks) > 1 else 'was'} measured.",
            "Give it: --protocol protocol.toml (for both) or --protocols ONE OTHER; or vouch: --assume-same-protocol",
        )


def lower_of(one: Scores, other: Scores, asked: bool) -> bool:
    """Return whether lower scores are better: what the protocol says, else what was asked for.

    Raises:
        InputError: the two contradict each other.
    """
    protocol = one.protocol or other.protocol
    said = protocol.values.get("evaluation", {}).get("better") if protocol else None
    if asked and said == "higher":
        raise InputError(
            '--lower-is-better, but the protocol says evaluation.better = "higher".',
            "Leave the option out, or correct the protocol: it is then another one, and so is its hash.",
        )
    return asked or said == "lower"


def items_of(scores: Scores) -> dict[str, float]:
    """Return item -> mean score over its samples and runs."""
    return {item: float(np.mean(values)) for item, values in scores.items_of().items()}


def _over_items(left: Floats, right: Floats, paired: bool, level: float) -> Interval | None:
    if min(left.size, right.size) < 2:
        return None
    compare_them = paired_difference if paired else difference
    return compare_them(right, left, level=level)


def _items_needed(left: Floats, right: Floats, paired: bool) -> int | None:
    if min(left.size, right.size) < 2:
        return None
    effect = float(right.mean() - left.mean())
    sd = float((right - left).std(ddof=1)) if paired else float(np.sqrt((left.var(ddof=1) + right.var(ddof=1)) / 2))
    return runs_needed(effect, sd, paired=paired) if effect else None
