"""Scores, comparisons, gaps and power, as text and as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ...evaluation.gap import Gap
from ...evaluation.results.comparing import Compared
from ...evaluation.results.reading import Scores
from ...evaluation.results.summary import Summary
from ...evaluation.statistics import IQM, MEAN, RARE, Interval, measured_coverage
from ..clean import plain
from ..page import Page
from ..words import count, number

METHODS = {
    "t": "t interval",
    "expanded": "bootstrap interval",
    "skewed": "t interval that follows skewness and tails",
    "percentile": "percentiles",
    "score": "score interval",
}
REFUSED = "refused: a single run says nothing about other seeds; train 2 more at least, better 5 to 10"

LEAST_HELD = 0.93
"""Coverage below which a 95 % interval is called too narrow: the 95 % +- 2 % that is asked of 20 runs."""


@dataclass(frozen=True)
class Power:
    """What a power calculation answers."""

    difference: float
    sd: float
    what: str
    units: int | None
    needed: int | None
    power: float | None
    detectable: float | None
    wanted: float
    paired: bool


def _interval(one: Interval | None) -> dict[str, Any] | None:
    return None if one is None else asdict(one)


def _said(one: Interval) -> str:
    if one.refused:
        return f"{number(one.value)}, interval refused: {one.remark}"
    return f"{number(one.value)} [{number(one.lo)}, {number(one.hi)}] ({one.level:.0%} {METHODS[one.method]})"


def _protocol(scores: Scores) -> str:
    return scores.protocol.hash if scores.protocol else "not given"


def data(found: Summary) -> dict[str, Any]:
    """Return the document of one result."""
    return {
        "score": {
            "name": found.scores.name,
            "protocol_hash": found.scores.protocol.hash if found.scores.protocol else None,
            "items": found.items,
            "runs": found.runs,
            "mean": found.mean,
            "over_items": _interval(found.over_items),
            "over_runs": _interval(found.over_runs),
            "iqm_over_runs": _interval(found.iqm),
            "over_runs_refused": None if found.over_runs else REFUSED,
            "pass_at": {k: _interval(v) for k, v in found.pass_at.items()},
            "detectable": found.detectable,
            "notes": list(found.scores.notes),
        }
    }


def draw(page: Page, found: Summary) -> None:
    """Draw one result."""
    page.line(f"{plain(found.scores.name, 60)}: {number(found.mean)}, {count(found.items, 'item')}, "
              f"{count(found.runs, 'run')}, protocol {_protocol(found.scores)}", style="bold")  # fmt: skip
    if found.over_items is None:
        page.entry("items", "refused: a single item or episode has no spread")
    else:
        page.entry("items", f"{_said(found.over_items)}; of these very checkpoints")
    if found.over_runs is None or found.iqm is None:
        page.entry("runs", REFUSED)
    else:
        page.entry("runs", f"mean {_said(found.over_runs)}; of the method")
        page.entry("", f"interquartile mean {_said(found.iqm)}")
        _coverage(page, found.runs)
    for k, one in found.pass_at.items():
        page.entry(f"pass@{k}", f"{_said(one)}; over prompts, unbiased, from {_samples(found)}")
    if found.over_items is not None and found.detectable == float("inf"):
        page.entry("power", "all items score the same: without a spread nothing says what so many would show")
    elif found.over_items is not None and found.detectable > found.span:
        page.entry("power", f"{count(found.items, 'item')} are too few to show any difference between two shares")
    elif found.over_items is not None:
        page.entry("power", f"{count(found.items, 'item')} of each of two checkpoints show a difference of "
                   f"{number(found.detectable)} or more in 4 of 5 cases; of less they cannot say")  # fmt: skip
    for note in found.scores.notes:
        page.entry("note", note)


def _samples(found: Summary) -> str:
    lo, hi = found.samples
    return f"{lo}{f' to {hi}' if hi > lo else ''} samples a prompt"


SIMULATIONS = 1000
"""Of each shape, for the coverage that is printed: a few seconds, for a standard error of 0.7 points at 95 %."""


def _coverage(page: Page, runs: int) -> None:
    """Say what the intervals really hold for so many runs, and how sure that is."""
    page.entry("", f"measured coverage with {runs} runs ({SIMULATIONS:,} simulations of each shape):")
    for one in (MEAN, IQM):
        found = measured_coverage(runs, aggregate=one.name, simulations=SIMULATIONS, reps=200)
        shapes = ", ".join(f"{c.held_frac:.1%} if {c.shape}" for c in found)
        sure = 100 * 1.96 * max(c.error_frac for c in found)
        page.entry("", f"{one.name} {shapes}; each within {sure:.1f} points (95%)")
        narrow = [c.shape for c in found if c.shape in RARE and c.held_frac < LEAST_HELD]
        if narrow:
            page.entry("", f"The interval of the {one.name} is known to be too narrow if {' or '.join(narrow)}, which "
                       "so few runs cannot rule out: no interval for a mean holds for every shape.")  # fmt: skip


def comparison_data(found: Compared) -> dict[str, Any]:
    """Return the document of a comparison."""
    return {
        "outcome": found.outcome,
        "comparison": {
            "one": found.one.name,
            "other": found.other.name,
            "paired": found.paired,
            "shared_items": found.shared_items,
            "only_one_items": found.only_one,
            "only_other_items": found.only_other,
            "over_items": _interval(found.over_items),
            "runs": list(found.runs),
            "over_runs": _interval(found.over_runs),
            "over_runs_refused": None if found.over_runs else REFUSED,
            "probability_of_improvement": _interval(found.improvement),
            "items_needed": found.items_needed,
            "lower_is_better": found.lower,
        },
    }


def draw_comparison(page: Page, found: Compared) -> None:
    """Draw a comparison; differences are other minus one."""
    of = "method" if found.over_runs else "checkpoint"
    words = {"better": f"The other {of} is better.", "worse": f"The other {of} is worse.", "undecided": "Undecided."}
    page.line(words[found.outcome] + (" Lower is better." if found.lower else ""), style="bold")
    how = f"paired over {count(found.shared_items, 'shared item')}" if found.paired else "not paired"
    if found.over_items is None:
        page.entry("items", "refused: a single item has no spread")
    else:
        page.entry("items", f"difference {_said(found.over_items)}; {how}; of these very checkpoints")
        if found.outcome == "undecided":
            needed = "more than a million" if found.items_needed is None else f"{found.items_needed:,}"
            page.entry("", f"to show a difference of this size takes {needed} items in 4 of 5 cases")
    if found.only_one or found.only_other:
        page.entry("", f"left out: {found.only_one:,} items only in one, {found.only_other:,} only in the other")
    if found.over_runs is None or found.improvement is None:
        page.entry("runs", f"{REFUSED} (there are {found.runs[0]} and {found.runs[1]})")
        return
    page.entry("runs", f"difference {_said(found.over_runs)}; of the methods, {found.runs[0]} and {found.runs[1]} runs")
    page.entry("", f"probability that a run of the other beats one of the first: {_said(found.improvement)}")


def gap_data(found: Gap) -> dict[str, Any]:
    """Return the document of a gap."""
    return {"outcome": found.outcome, "gap": asdict(found)}


def draw_gap(page: Page, found: Gap) -> None:
    """Draw the gap between acting by chance and by the mode."""
    words = {
        "undecided": "No gap shown",
        "sampled better": "Sampled is better",
        "deterministic better": "Deterministic is better",
    }
    page.line(f"{words[found.outcome]}: sampled {number(found.sampled_mean)}, deterministic "
              f"{number(found.deterministic_mean)}", style="bold")  # fmt: skip
    page.entry(
        "gap", f"{_said(found.difference)}; sampled minus deterministic, paired over {count(found.items, 'item')}"
    )
    if found.outcome != "undecided":
        page.entry("next", "Training scores are sampled: compare them with sampled evaluation, and fix the action mode "
                   "in the protocol.")  # fmt: skip


def power_data(found: Power) -> dict[str, Any]:
    """Return the document of a power calculation."""
    return {"power": asdict(found)}


def draw_power(page: Page, found: Power) -> None:
    """Draw what so many units can show."""
    side = "pairs" if found.paired else f"{found.what} a side"
    if found.units is not None and found.power is not None and found.detectable is not None:
        enough = found.power >= found.wanted
        page.line(f"{found.units:,} {side} {'can' if enough else 'cannot'} show a difference of "
                  f"{number(found.difference)}", style="bold")  # fmt: skip
        page.entry("power", f"they would see it in {found.power:.0%} of cases, with a spread of {number(found.sd)}")
        page.entry("", f"what they see in {found.wanted:.0%} of cases is a difference of {number(found.detectable)}")
    needed = "more than a million" if found.needed is None else f"{found.needed:,}"
    page.entry("needed", f"{needed} {side} for {found.wanted:.0%}")
