"""From a failing configuration to a minimal reproduction of its symptom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import InputError
from .ddmin import ddmin
from .differences import Difference, applied, differences
from .numbers import Size, smallest
from .sequential import Sequential, between
from .tries import Budget, Shows, Spent, Tried, Tries

PILOT_SEEDS = (4, 8, 12)
"""Seeds of the pilot, and how many it grows to while it cannot tell: all of four against none of four makes every trial
a matter of two seeds. Engineering default."""
SECOND = 500_000
"""What the first search leaves is searched again with seeds this much further on."""
FRESH = 1_000_000
"""Seeds from here on are kept for trying again what was found."""

Selection = tuple[Difference, ...]


@dataclass(frozen=True)
class Reproduction:
    """What a search found. `config` shows the symptom, and differs from the good configuration in `needed` only."""

    config: Mapping[str, Any]
    needed: Selection
    given_up: Selection
    """Differences without which the symptom still shows."""
    minimal: bool
    """Whether the search came to its end: without any one of `needed` the symptom was not seen any more."""
    again: Tried | None
    """The same configuration on fresh seeds; None when the budget did not reach so far."""
    pilot: tuple[Tried, Tried] = field(default=(Tried(True, 0, 0), Tried(False, 0, 0)))
    """The bad and the good configuration, before anything else."""
    runs: int = 0
    """Runs made."""
    recalled: int = 0
    """Runs taken from the journal of an earlier search."""
    sizes: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """Settings that only say how long or large the run is: what they were, and the smallest that was enough."""
    notes: tuple[str, ...] = ()


def shrink(
    bad: Mapping[str, Any],
    good: Mapping[str, Any],
    shows: Shows,
    *,
    sizes: tuple[Size, ...] = (),
    chance: bool = True,
    budget: Budget | None = None,
    journal: Path | None = None,
    first_seed: int = 0,
    tell: Callable[[str], None] | None = None,
) -> Reproduction:
    """Shrink the differences of `bad` from `good` to a minimal set that still shows the symptom.

    Args:
        bad: The configuration that shows the symptom.
        good: One that does not: the defaults, or the last that worked.
        shows: Whether a run with this configuration and seed shows it, None for a run that ended in another way.
        sizes: Settings such as steps or batch sizes that are made smaller at the end, as long as the symptom shows.
        chance: Whether one and the same configuration may show it with one seed and not with another.
        budget: How much may be run.
        journal: A file in which every run is written down; with it a search that was cut off goes on.
        first_seed: Of the trials.
        tell: Hears of every run.

    Raises:
        InputError: `bad` does not show the symptom, `good` shows it too, or there are no differences.
    """
    every = differences(bad, good)
    if not every:
        raise InputError("The two configurations are the same: nothing can be shrunk.", "Give the failing one first.")
    tries = Tries(shows, budget or Budget(), journal=journal, tell=tell)
    test, pilot = _pilot(tries, bad, good, first_seed, chance=chance)
    search = _Search(tries, test, good, first_seed, every)
    ended = search.run()
    found, again, notes = search.confirmed()
    if again is not None and again.shows:  # what was kept or lost by bad luck in one search is not in the next
        search = _Search(tries, test, good, first_seed + SECOND, found)
        ended = search.run() and ended
        found, again, more = search.confirmed()
        notes += more
    reproduction = Reproduction(
        config=applied(good, found),
        needed=found,
        given_up=tuple(d for d in every if d not in found),
        minimal=ended and again is not None and again.shows and found == search.found[-1],
        again=again,
        pilot=pilot,
        notes=notes,
    )
    if sizes and again is not None and again.shows:
        reproduction = search.smaller(reproduction, sizes)
    return replace(reproduction, runs=tries.runs, recalled=tries.recalled)


def _pilot(
    tries: Tries, bad: Mapping[str, Any], good: Mapping[str, Any], first_seed: int, *, chance: bool
) -> tuple[Sequential, tuple[Tried, Tried]]:
    """Run both configurations with the same seeds: the control has to reproduce the symptom before anything else."""
    control = known = Tried(False, 0, 0)
    for count in PILOT_SEEDS if chance else (1,):
        seeds = range(first_seed, first_seed + count)
        control, known = tries.count(bad, seeds), tries.count(good, seeds)
        if not chance and control.shown > known.shown:
            return Sequential(0.0, 1.0), (control, known)
        test = between((control.shown, control.runs), (known.shown, known.runs))
        if test is not None:
            return test, (control, known)
        if control.shown == 0:
            break
    if control.shown == 0:
        how = f" ({tries.ended})" if tries.ended else ""
        runs = "its only run" if control.runs == 1 else f"{control.runs} runs"
        lost = f"; {control.unresolved} ended in another way{how}" if control.unresolved else ""
        raise InputError(
            f"The failing configuration did not show the symptom in {runs}{lost}: nothing was concluded.",
            "Give the seed that shows it, train longer, say more precisely what the symptom is; or are the two "
            "configurations swapped?",
        )
    raise InputError(
        f"The known-good configuration shows the symptom in {known.shown} of {known.runs} runs, the failing one in "
        f"{control.shown} of {control.runs}: too close to tell apart.",
        "Choose a sharper symptom, or another configuration as known to be good.",
    )


class _Search:
    """One search: the selections that showed the symptom, each smaller than the one before."""

    def __init__(
        self, tries: Tries, test: Sequential, good: Mapping[str, Any], first_seed: int, every: Selection
    ) -> None:
        self.tries, self.test, self.good, self.first_seed = tries, test, good, first_seed
        self.found: list[Selection] = [every]
        self.undecided = 0

    def run(self) -> bool:
        """Search; return whether it came to its end within the budget."""
        try:
            ddmin(self.found[0], self.shows, self.found.append)
        except Spent:
            return False
        return True

    def shows(self, chosen: Selection) -> bool:
        """Whether the good configuration with these differences shows the symptom."""
        tried = self.tries.judge(applied(self.good, chosen), self.test, self.first_seed)
        self.undecided += not tried.decided
        return tried.shows

    def on_fresh_seeds(self, config: Mapping[str, Any]) -> Tried | None:
        """Try a configuration on seeds from which nothing was decided; None when the budget is spent."""
        try:
            return self.tries.judge(config, self.test, FRESH + self.first_seed)
        except Spent:
            return None

    def confirmed(self) -> tuple[Selection, Tried | None, tuple[str, ...]]:
        """Return the smallest selection that shows the symptom on fresh seeds too, that trial, and what to know."""
        notes: list[str] = []
        again: Tried | None = None
        if self.undecided:
            notes.append(f"{self.undecided} trials stayed undecided after {self.test.most_seeds} seeds each.")
        for chosen in reversed(self.found):
            again = self.on_fresh_seeds(applied(self.good, chosen))
            if again is None:
                return chosen, None, (*notes, "The budget was spent before fresh seeds could confirm it.")
            if again.shows:
                return chosen, again, tuple(notes)
            notes.append(f"{len(chosen)} differences showed it by chance: not on fresh seeds.")
        return self.found[0], again, (*notes, "Not even the failing configuration shows it on fresh seeds.")

    def smaller(self, found: Reproduction, sizes: tuple[Size, ...]) -> Reproduction:
        """Return a reproduction with its sizes as small as the symptom allows, if it shows on fresh seeds then too."""
        config, made, told = smallest(found.config, sizes, self._judged)
        again = self.on_fresh_seeds(config) if made else None
        notes = (*found.notes, *told)
        if again is not None and again.shows:
            return replace(found, config=config, sizes=made, again=again, notes=notes)
        if made:
            notes = (*notes, "The smaller sizes did not show it on fresh seeds; they are as they were.")
        return replace(found, notes=notes)

    def _judged(self, config: Mapping[str, Any]) -> bool:
        return self.tries.judge(config, self.test, self.first_seed).shows
