"""The tables of a verifier's report: what passed, by kind of response. Texts are quoted, escaped and cut."""

from __future__ import annotations

from typing import Any

from .rates import Rate
from .record import Audit, Trial

SHOWN = 60
"""Characters of a fooling string that are shown."""
WORDS = {
    "right": "right answer, in each format",
    "equal": "right answer, written another way",
    "loose": "right answer, written loosely",
    "given-right": "given as right",
    "given-wrong": "given as wrong",
    "null": "nothing said",
    "nonsense": "nonsense",
    "format": "nonsense in the right format",
    "near": "near the right answer",
    "anywhere": "right answer mentioned, another one given",
    "prompt": "prompt copied",
    "odd": "odd characters",
    "long-right": "right, with much reasoning",
    "long-wrong": "wrong, with much reasoning",
    "thoughtless": "right, without reasoning",
    "executing": "code that leaves a mark when run",
    "tampering": "code that tampers with its tests",
}
"""Families of responses -> words of the table."""


def quoted(text: str) -> str:
    """Return `text` quoted, in ASCII with escapes, cut."""
    return ascii(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def details_of(audit: Audit) -> dict[str, Any]:
    """Return what a report shows beside the findings."""
    return {
        "style": audit.style,
        "pass_mark": audit.mark,
        "rows": len(audit.questions),
        "own_data": audit.own_data,
        "calls": audit.calls,
        "formats": {name: round(share, 3) for name, share in audit.shares.items()},
        "false_positive": _plain(audit.false_positives),
        "false_negative": _plain(audit.false_negatives),
        "fooling": [{"row": row, "text": quoted(text), "characters": len(text)} for row, text in audit.fooled],
        "universal": _universal(audit),
        "tables": tables_of(audit),
    }


def _plain(rate: Rate) -> dict[str, float]:
    return {"frac": rate.value, "low": rate.low, "high": rate.high, "hits": rate.hits, "tries": rate.tries}


def _universal(audit: Audit) -> dict[str, Any] | None:
    if audit.universal is None:
        return None
    text, hits, rows = audit.universal
    return {"text": quoted(text), "characters": len(text), "rows_fooled": hits, "rows": rows}


def tables_of(audit: Audit) -> list[dict[str, Any]]:
    """Return the tables that a report prints."""
    if not audit.trials:
        return []
    rows = [_row(audit, words, audit.of(family)) for family, words in WORDS.items() if audit.of(family)]
    title = f"what passes (a score of {audit.mark:.3g} or more)"
    tables = [
        {"title": title, "columns": ["response", "asked", "passed %", "95 % low", "high", "failed"], "rows": rows}
    ]
    equal = sorted({t.form for t in audit.of("equal", "loose")})
    refused = [_row(audit, form, [t for t in audit.of("equal", "loose") if t.form == form]) for form in equal]
    refused = [row for row in refused if row[2] < 100]
    if refused:
        refused.sort(key=lambda row: row[2])
        columns = ["way of writing", "asked", "passed %", "95 % low", "high", "failed"]
        tables.append({"title": "refused ways of writing the right answer", "columns": columns, "rows": refused[:10]})
    if audit.fooled or audit.universal:
        tables.append(_fooling(audit))
    return tables


def _row(audit: Audit, name: str, trials: list[Trial]) -> list[Any]:
    rate = audit.rate(trials)
    failed = sum(t.how != "ok" for t in trials)
    return [name, rate.tries, 100 * rate.value, 100 * rate.low, 100 * rate.high, failed]


def _fooling(audit: Audit) -> dict[str, Any]:
    rows: list[list[Any]] = [[f"row {row + 1}", quoted(text), len(text)] for row, text in audit.fooled]
    if audit.universal is not None:
        text, hits, tried = audit.universal
        rows.insert(0, [f"{hits} of {tried} rows", quoted(text), len(text)])
    return {"title": "shortest wrong responses that pass", "columns": ["where", "text", "characters"], "rows": rows}


def notes_of(audit: Audit) -> list[str]:
    """Return what the reader must know of how it was asked."""
    notes: list[str] = []
    if audit.refused_to_start:
        notes.append(f"Nothing could be asked; {audit.refused_to_start}")
    if audit.partial:
        notes.append(
            f"Not everything was asked: the time was over, or too many calls ended the process ({audit.calls} calls)."
        )
    if not audit.own_data:
        kind = audit.questions[0].kind
        notes.append(f"Asked on {len(audit.questions)} built-in questions ({kind}); give your own with --data FILE.")
    return notes
