"""The numbers and tables of an audit's report, and what it could not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from .across.agreement import agreement
from .across.diversity import diversity
from .across.mutual import retrieval
from .across.near import near_duplicates
from .across.triad import REAL, Triad, triad
from .across.within import Correlation, correlation_within
from .reading.report import ReadReport
from .table import Column, Fingerprints, Table

Tables = list[dict[str, Any]]
MOST_MEASURES = 6
"""Measures shown beside the reward."""
LEAST = 0.1
"""Rank correlation from which a measure is shown. Engineering default."""
FEWEST_TEXTS = 20
"""Samples whose texts are compared with one another. Engineering default."""
MOST_RANKED = 100_000
"""Samples that are ranked within prompts. Engineering default: correlations are then known to 0.01."""
_WORDS = {None: "not known", True: "yes", False: "no"}


def details_of(table: Table, report: ReadReport) -> dict[str, Any]:
    """Return the audit's own part of the inspection."""
    seen = triad(table)
    return {
        "samples": table.n,
        "groups": table.groups,
        "formats": dict(table.sources),
        "rows_unreadable": table.unreadable,
        "reasons_unreadable": dict(report.reasons.most_common(5)),
        "rows_mended": dict(report.mended.most_common(5)),
        "known": sorted(name for name in table.columns if not name.startswith(("text/", "agent/", "tokens/"))),
        "measured": sorted(name for name in table.columns if name.startswith(("text/", "agent/", "tokens/"))),
        "triad": asdict(seen),
        "tables": [*_reward(table), *_agreement(table), *_goes_with(table), *_texts(table), *_triad(seen)],
    }


def _reward(table: Table) -> Tables:
    rows: list[list[Any]] = []
    for name in ("reward", "human", "human_chosen", "success", "advantage"):
        column = table.get(name)
        if column is not None:
            rows.append([name, *quantiles(column)])
    if not rows:
        return []
    return [
        {"title": "what the log says", "columns": ["column", "known", "mean", "least", "median", "most"], "rows": rows}
    ]


def quantiles(column: Column) -> list[Any]:
    """Return how many values are finite, their mean, minimum, median and maximum."""
    known = column[np.isfinite(column)].astype(np.float64)
    if not known.size:
        return [0, None, None, None, None]
    return [int(known.size), float(known.mean()), float(known.min()), float(np.median(known)), float(known.max())]


def _agreement(table: Table) -> Tables:
    rows: list[list[Any]] = []
    for name in REAL:
        found = agreement(table, name)
        if found is not None:
            right = f"{100 * found.right_frac:.0f} % ({100 * found.right_low:.0f} to {100 * found.right_high:.0f})"
            tau = f"{found.tau_b:.2f} ({found.tau_low:.2f} to {found.tau_high:.2f})"
            rows.append([name, right, tau, found.pairs, found.groups])
    if not rows:
        return []
    title = "does the reward rank answers to the same prompt as it should?"
    return [{"title": title, "columns": ["as", "pairs right", "tau-b", "pairs", "prompts"], "rows": rows}]


def _texts(table: Table) -> Tables:
    """Return how alike the texts are; of a table too small to compare, nothing."""
    if len(table.drawn) < FEWEST_TEXTS:
        return []
    seen, near, found = diversity(table.together, table.drawn), near_duplicates(table.drawn), retrieval(table.drawn)
    rows: list[list[Any]] = []
    if seen.groups:
        rows.append(
            ["overlap of answers to one prompt", seen.within_overlap, _range(seen.within_low, seen.within_high)]
        )
    if seen.pairs:
        rows.append(["overlap between prompts", seen.across_overlap, _range(seen.across_low, seen.across_high)])
    rows.append(["commonest opening, share of samples", commonest(table.opening), None])
    rows.append(["repeated responses, share of samples", repeated(table.response), None])
    rows.append(["near duplicates, share of samples", near.alike_frac, None])
    rows.append(["near duplicates of another prompt's answer", near.across_frac, None])
    rows.append(["different pairs of words, of all pairs", seen.distinct_2, None])
    if found is not None:
        range_ = _range(found.above_low, found.above_high)
        rows.append(["prompt known from its answer (0.5: by chance)", found.above_frac, range_])
    return [{"title": "how alike the answers are", "columns": ["", "value", "95 %"], "rows": rows}]


def commonest(opening: Fingerprints) -> float:
    """Return the share of the samples that begin with the commonest words [N]; those too short to tell count too."""
    counts = np.unique(opening[opening > 0], return_counts=True)[1]
    return float(counts.max()) / opening.size if counts.size and counts.max() > 1 else 0.0


def repeated(response: Fingerprints) -> float:
    """Return the share of the responses [N] that are word for word another's."""
    counts = np.unique(response, return_counts=True)[1]
    return float(counts[counts > 1].sum()) / max(response.size, 1)


def _range(low: float, high: float) -> str | None:
    return f"{low:.2f} to {high:.2f}" if np.isfinite(low) and np.isfinite(high) else None


def _goes_with(table: Table) -> Tables:
    found = rewarded(table)
    if not found:
        return []
    rows: list[list[Any]] = [[name, c.value, f"{c.low:.2f} to {c.high:.2f}", c.groups] for name, c in found.items()]
    title = "what the reward goes with, among answers to the same prompt"
    return [
        {"title": title, "columns": ["measure", "rank correlation", "95 %", "prompts"], "rows": rows[:MOST_MEASURES]}
    ]


def rewarded(table: Table) -> Mapping[str, Correlation]:
    """Return the measures that surely rise or fall with the reward within prompts, the strongest first."""
    table = thinned(table)
    names = [n for n in table.columns if n.startswith(("text/", "agent/", "tokens/"))]
    every = {name: c for name in names if (c := correlation_within(table, name)) is not None}
    sure = {n: c for n, c in every.items() if c.groups >= 8 and abs(c.value) >= LEAST and c.low * c.high > 0}
    return dict(sorted(sure.items(), key=lambda item: -abs(item[1].value)))


def thinned(table: Table, most: int = MOST_RANKED) -> Table:
    """Return the columns of whole groups with at most about `most` samples, an even draw: by their fingerprints."""
    if table.n <= most:
        return table
    keep = table.group <= np.partition(table.group, most)[most]
    columns = {name: column[keep] for name, column in table.columns.items()}
    return Table(table.path, columns, table.group[keep])


def _triad(seen: Triad) -> Tables:
    if not seen.against:
        return []
    rows: list[list[Any]] = [["reward up", _WORDS[seen.reward_up], *_change(seen.reward)]]
    rows.append(["side metrics changed", _WORDS[seen.side_changed], *[None] * 3])
    rows += [[f"  {name}", "", *_change(c)] for name, c in list(seen.side.items())[:MOST_MEASURES]]
    name = f"real evaluation up ({seen.evaluation_name})" if seen.evaluation_name else "real evaluation up"
    rows.append([name, _WORDS[seen.evaluation_kept_up], *_change(seen.evaluation)])
    return [
        {
            "title": f"the triad, against {seen.against}",
            "columns": ["", "", "before", "after", "shift in SD"],
            "rows": rows,
        }
    ]


def _change(found: Any) -> list[Any]:
    return [None] * 3 if found is None else [found.before, found.after, found.shift]


def notes_of(table: Table, report: ReadReport) -> list[str]:
    """Return what the audit had to leave out, and then what it cannot see: a first screen shows the first few."""
    return _left_out(table, report) + _unseen(table)


def _left_out(table: Table, report: ReadReport) -> list[str]:
    notes: list[str] = []
    if table.unreadable:
        common = report.reasons.most_common(3)
        reasons = [f"{reason} ({count})" if len(common) > 1 else reason for reason, count in common]
        rows = "1 row" if table.unreadable == 1 else f"{table.unreadable} rows"
        notes.append(f"{rows} could not be read: {'; '.join(reasons)}")
    notes += [f"put right or left out in reading: {what} ({count})" for what, count in report.mended.most_common(3)]
    if table.dropped_scores:
        notes.append(f"{table.dropped_scores} score columns beyond the first 200 were not read")
    notes += [f"the measure {name.rpartition('.')[2]} failed: {text}" for name, text in table.faults.items()]
    return notes + list(report.notes)


def _unseen(table: Table) -> list[str]:
    notes: list[str] = []
    known = table.columns
    if "reward" not in known:
        notes.append(_no_rewards(table))
    if not {"human", "human_chosen"} & set(known) and "success" not in known:
        notes.append(
            "no human scores and no task success: whether the reward pays for what is wanted cannot be seen, only what "
            "it pays for"
        )
    if table.unnamed:
        which = "no" if table.unnamed == table.n else f"{table.unnamed} samples have no"
        notes.append(
            f"{which} prompt or group: which answers belong together cannot be seen; name it: --column group=NAME"
        )
    elif table.n and table.groups == table.n:
        notes.append("one sample a prompt: rewards cannot be compared within prompts")
    if table.reference is None and "step" not in known:
        notes.append("no steps and no reference: what changed in training cannot be seen; give --reference FILE")
    return notes


def _no_rewards(table: Table) -> str:
    """Return why which samples training paid for cannot be seen, and what to do."""
    why = "no rewards" if not table.unscored else f"{table.unscored} rewards, none of them a finite number"
    return f"{why}: which samples training paid for cannot be seen; name the column: --column reward=NAME"
