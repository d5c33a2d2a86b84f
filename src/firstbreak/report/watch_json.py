"""The JSON of a watch: one document on one line for each event, in the outer shape of docs/design.md, section 8."""

from __future__ import annotations

import json
from typing import Any

from .. import __version__
from ..diagnosis import Diagnosis
from ..monitor.watching.events import Event, Kind
from ..vocabulary import vocabulary_version
from .json import SCHEMA_VERSION, clean, finding_dict, first_break_dict, run_dict

CONTRACT_STATES = frozenset({"running", "stalled", "finished", "crashed"})
"""States that every document of firstbreak knows; the finer ones of a watch stand in `watch.state`."""


def line(event: Event, status: int | None = None) -> str:
    """Return `event` as one line of JSON in ASCII; `status` is the exit status, where the watch ends with it."""
    return json.dumps(clean(document(event, status)), ensure_ascii=True, allow_nan=False)


def document(event: Event, status: int | None = None) -> dict[str, Any]:
    """Return the document of one event. The last one holds the whole coverage and every finding."""
    diagnosis = event.diagnosis
    entry = None if diagnosis is None else run_dict(diagnosis)
    findings = [finding_dict(f) for f in event.findings]
    watch: dict[str, Any] = {
        "event": event.kind.value,
        "time": event.wall,
        "state": event.state.value,
        "text": event.text,
        "alert": event.alert,
        "cause": event.cause or None,
        **event.facts,
    }
    if status is not None:
        watch["exit_status"] = status
    return {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "vocabulary_version": vocabulary_version(),
        "watch": watch,
        "run": None if entry is None else {**_short(entry["run"]), "state": _state(event)},
        "verdict": None if diagnosis is None else diagnosis.verdict.value,
        "first_break": None if diagnosis is None else first_break_dict(diagnosis.first_break),
        "findings": findings if event.kind is not Kind.END or entry is None else entry["findings"],
        "coverage": None if diagnosis is None or entry is None else _coverage(event, diagnosis, entry),
    }


def _state(event: Event) -> str | None:
    return event.state.value if event.state.value in CONTRACT_STATES else None


def _short(run: dict[str, Any]) -> dict[str, Any]:
    """Return what identifies a run and how far it is, without what was read and left."""
    return {key: run[key] for key in ("path", "framework", "algorithm", "verified", "clock", "steps", "metrics")}


def _coverage(event: Event, diagnosis: Diagnosis, entry: dict[str, Any]) -> dict[str, Any]:
    if event.kind is Kind.END:
        return entry["coverage"]
    return {key: entry["coverage"][key] for key in ("links", "looked", "applicable")}
