"""What a filter kept, what it threw away, and whether the two differ in more than their spread."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from .tally import Moments, difference


@dataclass(frozen=True)
class Gap:
    """One quantity of the groups kept and of those thrown away, and the difference (kept less discarded)."""

    name: str
    kept: float
    discarded: float
    kept_groups: int
    discarded_groups: int
    lo: float
    """Lower end of the 95 % interval of the difference; NaN where a side has fewer than 8 groups."""
    hi: float

    @property
    def differs(self) -> bool | None:
        """Whether the interval leaves out 0; None where there is none."""
        return None if math.isnan(self.lo) else not self.lo <= 0.0 <= self.hi


def gap(name: str, kept: Moments, discarded: Moments) -> Gap:
    """Compare two sums of groups."""
    _, lo, hi = difference(kept, discarded)
    return Gap(name, kept.known, discarded.known, kept.n, discarded.n, lo, hi)


@dataclass(frozen=True)
class FilterReport:
    """What `GroupFilter.report` returns. Counts are of groups."""

    seen: int
    kept: int
    forced: int
    """Kept only because too many in a row had been rejected; counted in `kept` too."""
    rejected: Mapping[str, int]
    """Reason -> groups: no spread, mean too low, mean too high, no score."""
    all_right: int
    all_wrong: int
    silent_between: int
    """Without spread, at a reward that is neither the best nor the worst."""
    unread: int
    """Kept because they could not be read; see `GroupFilter.faults`."""
    kept_frac: tuple[float, float, float]
    """Share kept, with its 95 % interval (Wilson 1927)."""
    prompts: int
    """Prompts told apart; 0 where nothing tells them apart."""
    prompts_never_kept: int
    prompts_tried: int
    """Prompts with two groups or more: only of those can be said that they are never kept."""
    never_kept_frac: tuple[float, float, float]
    """Share of the prompts tried of which no group was kept, with its 95 % interval."""
    gaps: tuple[Gap, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def draws_per_kept(self) -> float:
        """Groups sampled for each that is trained on."""
        return self.seen / self.kept if self.kept else math.inf

    @property
    def biased(self) -> tuple[str, ...]:
        """Names of what differs between kept and discarded groups."""
        return tuple(g.name for g in self.gaps if g.differs)

    @property
    def meaning(self) -> str:
        """What it says, in a few sentences."""
        if not self.seen:
            return "No group was seen."
        said = [
            f"{self.kept} of {self.seen} groups were kept ({self.kept_frac[0]:.0%}, {self.draws_per_kept:.3g} drawn "
            f"for each); without spread: {self.all_right} all right, {self.all_wrong} all wrong."
        ]
        said += [
            f"{g.name}: kept {g.kept:.3g}, discarded {g.discarded:.3g} (difference {g.lo:.3g} to {g.hi:.3g})."
            for g in self.gaps
            if g.differs
        ]
        if self.prompts_never_kept:
            said.append(
                f"{self.prompts_never_kept} of {self.prompts_tried} prompts tried twice or more never reach training."
            )
        if self.forced:
            said.append(f"{self.forced} groups were kept only to go on.")
        return " ".join(said)

    @property
    def cannot_tell(self) -> str:
        """What it does not say."""
        return (
            "Whether what was thrown away would have taught something; whether the scorer is right about it. Groups "
            "are taken as independent: with few prompts drawn often, the intervals are too narrow."
        )

    @property
    def settles(self) -> tuple[str, ...]:
        """Rules and causes that it helps to decide."""
        return (
            "zero-std-groups",
            "silent-groups",
            "filtered-reward-hides-fall",
            "survivors-are-short",
            "task-too-hard",
        )
