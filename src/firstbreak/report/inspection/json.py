"""The JSON face of inspections: the outer shape of every judging command (docs/design.md, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ... import __version__
from ...diagnosis import Skipped
from ...finding import LOOP
from ...inspection import Inspection, together
from ..json import SCHEMA_VERSION, clean, finding_dict, first_break_dict


def document(seen: Sequence[Inspection], rows: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the document of one inspection; of several, or of a checklist with its `rows`, they lie side by side."""
    own: dict[str, Any]
    if len(seen) == 1 and rows is None:
        own = inspection_dict(seen[0])
    else:
        own = {
            "kind": "preflight" if rows is None else "checklist",
            "verdict": together(seen).value,
            "findings": [finding_dict(f) for one in seen for f in one.findings],
            "coverage": coverage(*seen),
            "inspections": [inspection_dict(one) for one in seen],
        }
    if rows is not None:
        own["rows"] = list(rows)
    return clean({"schema_version": SCHEMA_VERSION, "tool_version": __version__, **own})


def inspection_dict(seen: Inspection) -> dict[str, Any]:
    """Return one inspection as plain data, to stand alone or in a checklist."""
    return {
        "kind": seen.kind,
        "target": seen.target,
        "verdict": seen.verdict.value,
        "first_break": first_break_dict(seen.first_break),
        "findings": [finding_dict(f) for f in seen.findings],
        "coverage": coverage(seen),
        "clear": list(seen.clear),
        "details": dict(seen.details),
        "notes": list(seen.notes),
    }


def coverage(*seen: Inspection) -> dict[str, Any]:
    """Return what was looked at, over any number of inspections."""
    order = {"looked": 2, "partial": 1, "blind": 0}
    links: dict[str, str] = {}
    for one in seen:
        for link, sight in one.sights.items():
            links[link.value] = max(links.get(link.value, "blind"), sight.value, key=order.__getitem__)
    return {
        "links": {link.value: links[link.value] for link in LOOP if link.value in links},
        "looked": sum(one.looked for one in seen),
        "applicable": sum(one.looked + sum(s.applies for s in one.skipped) + len(one.errors) for one in seen),
        "skipped": [_skipped(s) for one in seen for s in one.skipped],
        "errors": [{"rule": name, "message": message} for one in seen for name, message in one.errors],
    }


def _skipped(skipped: Skipped) -> dict[str, Any]:
    return {
        "rule": skipped.rule,
        "name": skipped.name,
        "reason": skipped.reason,
        "unlock_with": list(skipped.unlock_with),
        "applies": skipped.applies,
    }
