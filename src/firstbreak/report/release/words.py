"""How a release reads: headline, intervals, statuses."""

from __future__ import annotations

import math

from ...evaluation.statistics.intervals import Interval
from ...release.building import Release
from ...release.evidence import UNKNOWN, Change, Group, Run, Selection
from ...release.ruling import Outcome, Ruled
from ..words import count, number

HEADLINES = {Outcome.GO: "GO", Outcome.NO_GO: "NO-GO", Outcome.UNDECIDED: "UNDECIDED"}
STYLES = {Outcome.GO: "bold green", Outcome.NO_GO: "bold red", Outcome.UNDECIDED: "bold yellow"}
MARKS = {Ruled.GOOD: "✓", Ruled.BAD: "✗", Ruled.MISSING: "?", Ruled.NOT_ASKED: "–"}


def headline(release: Release) -> str:
    """Return the verdict and the reason in one sentence."""
    bad = [ruling for _, ruling in release.rulings if ruling.ruled is Ruled.BAD]
    open_ones = [rule for rule, ruling in release.rulings if ruling.ruled is Ruled.MISSING]
    if bad:
        why = bad[0].text
    elif open_ones:
        why = f"{count(len(open_ones), 'question')} of {len(release.rulings)} cannot be answered"
    else:
        why = f"{sum(r.ruled is Ruled.GOOD for _, r in release.rulings)} questions answered, none against it"
    return f"{HEADLINES[release.outcome]}: {why}"


def interval(found: Interval | None, runs: int = 0, of_each: str = "") -> str:
    """Return an estimate with its interval; for a single run, that there is none. `of_each`: of what it has so many."""
    if found is None:
        return "no interval: a single run" if runs == 1 else "no interval"
    if found.remark and not math.isfinite(found.width):
        return f"{number(found.value)}, no interval: {found.remark}"
    method = {"t": "t around the bootstrap's error", "expanded": "expanded bootstrap", "percentile": "bootstrap",
              "skewed": "t, following skewness and tails", "score": "from the score test"}  # fmt: skip
    return (
        f"{number(found.value)}, {found.level:.0%} interval {number(found.lo)} to {number(found.hi)} "
        f"({count(found.runs, 'run')}{of_each}, {method.get(found.method, found.method)})"
    )


def group_title(group: Group) -> str:
    """Return what a group of runs is."""
    task = group.task or "one task"
    protocol = "protocol not recorded" if group.protocol == UNKNOWN else f"protocol {group.protocol}"
    return f"{group.algorithm or 'algorithm not recognised'} on {task}, {group.metric}, {protocol}"


def gain(found: Selection) -> str:
    """Return what choosing the best evaluation gained by luck, in a sentence."""
    if not found.fresh and not found.evaluations:
        return "Not known: no run was evaluated apart from training."
    if not found.fresh:
        best = f"The best of up to {found.evaluations} noisy evaluations is too good."
        most = (
            f" The noise of single evaluations adds up to {number(found.expected)}."
            if found.expected is not None
            else ""
        )
        return f"Not known: no best checkpoint was scored again. {best}{most}"
    if found.apart:
        alone = f" On fresh seeds they score {interval(found.corrected)}." if found.corrected is not None else ""
        return f"Not known: {found.apart}.{alone}"
    if found.gain is None or found.corrected is None:
        return (
            f"Chosen at {number(found.chosen[0])}, {number(found.fresh[0])} on fresh seeds; a single run, no interval."
        )
    said = f"On fresh seeds the best checkpoints score {interval(found.corrected)}."
    ends = f"{number(found.gain.lo)} to {number(found.gain.hi)}"
    by = f"{number(abs(found.gain.value))} (95% interval of the gain: {ends})"
    if found.gain.lo > 0:
        return f"{said} When they were chosen they scored better by {by}: that part was luck of the choice."
    if found.gain.hi < 0:
        return f"{said} When they were chosen they scored worse by {by}: the two evaluations are not alike."
    more = "better" if found.gain.value >= 0 else "worse"
    return f"{said} When they were chosen they scored {more} by {by}, which may be chance."


def change(found: Change | None) -> str:
    """Return how something moved."""
    if found is None:
        return "not known"
    moved = f"{number(found.before)} ({found.against}) to {number(found.after)}"
    if found.difference is None:
        return f"{moved}; a single run: no interval"
    return f"{moved}: {found.direction}, by {interval(found.difference)}"


def ended(run: Run) -> str:
    """Return how a run ended, and what firstbreak says of it."""
    first = run.diagnosis.first_break
    return f"{run.ended or 'end not known'}; {run.diagnosis.verdict.value}" + (f" ({first.name})" if first else "")


def size(size_bytes: int) -> str:
    """Return a number of bytes in a unit for people."""
    value, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
