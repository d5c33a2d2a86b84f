"""What sets a run apart from healthy runs of its task, ranked by how likely it explains that the run departs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..comparison import config_differences
from ..departure import LEAST_METRICS, LEAST_RUNS, against, leaders
from ..errors import InputError
from ..runlog import Departure, RunLog
from . import store
from .comparing import AFTER_EQUALITY, SAME_LINK, Difference, Explanation, differences, setting_differences
from .contents import Context

VARIES = 0.5
"""Factor for what differs among the healthy runs themselves: one more value is less of a surprise. Engineering
default."""
MOST_VALUES = 4
"""Values of healthy runs that are named."""

Key = tuple[str, str]


@dataclass(frozen=True)
class Suspects:
    """A run held against healthy ones: where it left them first, and what it has that none of them has."""

    run: RunLog
    healthy: tuple[RunLog, ...]
    compared: int
    """Metrics that all of them log."""
    departures: tuple[Departure, ...]
    first: Departure | None
    """The first to leave of the outermost link; None where too few metrics left."""
    explanation: Explanation

    @property
    def outcome(self) -> str:
        """departs, within, or not comparable."""
        if self.first is not None:
            return "departs"
        return "within" if self.compared >= LEAST_METRICS else "not comparable"


def suspects(run: RunLog, healthy: Sequence[RunLog]) -> Suspects:
    """Rank what `run` has that no healthy run has: settings, code, packages, data, reward function, hardware.

    A setting counts for more where it acts on the link that left first, for less where it acts only late and the run
    departs from its first points on.

    Raises:
        InputError: there are fewer than three healthy runs: nothing says how far two of them lie apart.
    """
    if len(healthy) < LEAST_RUNS:
        raise InputError(
            f"{len(healthy)} healthy run{'' if len(healthy) == 1 else 's'}: their spread says nothing.",
            f"Give {LEAST_RUNS} or more; against a single one: firstbreak compare RUN HEALTHY",
        )
    found = against(run, healthy).against
    assert found is not None
    first = next(iter(leaders(found)), None)
    ranked, missing = _ranked(run, healthy)
    placed = [_placed(d, first, run) for d in ranked]
    order = tuple(sorted(placed, key=lambda d: (-d.weight, d.kind, d.name)))
    explanation = Explanation(order, tuple(missing))
    note = "" if explanation.likely else "Nothing written down sets this run apart: see what was not recorded."
    return Suspects(
        run, tuple(healthy), found.compared, found.departures, first, replace(explanation, note=note)
    )  # fmt: skip


def _ranked(run: RunLog, healthy: Sequence[RunLog]) -> tuple[list[Difference], list[str]]:
    """Return what differs from every healthy run, and what was not written down."""
    record = store.find(run.path)
    records = [found for log in healthy if (found := store.find(log.path)) is not None]
    settings = [
        {_key(d): d for d in setting_differences(config_differences(log.config, run.config))} for log in healthy
    ]
    rows = _of_none(settings)
    missing: list[str] = []
    if record is None:
        missing.append("the run has no record")
    if len(records) < len(healthy):
        missing.append(f"{len(healthy) - len(records)} of {len(healthy)} healthy runs have no record")
    if record is not None and records:
        known = {_key(d) for d in rows}
        rows += [d for d in _of_none(_of_records(record, records)) if _key(d) not in known]
    return rows, missing


def _of_records(record: Context, records: Sequence[Context]) -> list[dict[Key, Difference]]:
    return [{_key(d): d for d in differences(other, record)} for other in records]


def _key(difference: Difference) -> Key:
    return difference.kind, difference.name


def _of_none(tables: Sequence[dict[Key, Difference]]) -> list[Difference]:
    """Return what differs from every one of the healthy runs, with all their values as `a` and the run's as `b`."""
    rows: list[Difference] = []
    for key, one in tables[0].items():
        if not all(key in table for table in tables):
            continue
        values = list(dict.fromkeys(_text(table[key].a) for table in tables))
        if len(values) == 1:
            rows.append(one)
            continue
        shown = ", ".join(values[:MOST_VALUES]) + (" ..." if len(values) > MOST_VALUES else "")
        why = "; ".join(filter(None, (one.why, "healthy runs differ in it as well")))
        rows.append(replace(one, a=shown, weight=round(VARIES * one.weight, 4), why=why))
    return rows


def _text(value: Any) -> str:
    return "absent" if value is None else str(value)


def _placed(difference: Difference, first: Departure | None, run: RunLog) -> Difference:
    """Weigh a difference by where and when the run left the healthy ones."""
    if first is None:
        return difference
    weight, why = difference.weight, [difference.why] if difference.why else []
    if difference.link == first.link:
        weight, why = weight * SAME_LINK, [*why, f"acts on {difference.link}, which left first"]
    series = run.get(first.metric, first.scope)
    if difference.late and series is not None and first.lo <= float(series.step[0]):
        weight, why = weight * AFTER_EQUALITY, [*why, "acts only after a while, and the run departs from the start"]
    return replace(difference, weight=round(min(weight, 1.0), 4), why="; ".join(why))
