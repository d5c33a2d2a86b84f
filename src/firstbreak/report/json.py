"""The JSON contract (docs/design.md, section 8): plain data for programs; NaN and infinities as strings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..diagnosis import Confirmation, Coverage, Diagnosis, FirstBreak, RankedCause, Skipped
from ..errors import FirstbreakError
from ..experiments.settle.commands import command_for
from ..finding import LOOP, Finding, Onset
from ..patches import Patch
from ..runlog import Against, RunLog
from ..vocabulary import vocabulary_version

SCHEMA_VERSION = 1


def dumps(value: Any) -> str:
    """Return `value` as JSON text in ASCII (so no terminal escape can hide in it), NaN and infinities as strings."""
    return json.dumps(clean(value), indent=2, ensure_ascii=True, allow_nan=False)


def clean(value: Any) -> Any:
    """Return `value` in types that JSON has: enums and numpy numbers as their values, other objects as text."""
    if isinstance(value, Mapping):
        return {str(k): clean(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [clean(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _real(float(value))
    scalar = getattr(value, "item", None)
    return clean(scalar()) if callable(scalar) and getattr(value, "ndim", 1) == 0 else str(value)


def _real(value: float) -> float | int | str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def document(diagnoses: Sequence[Diagnosis], relations: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return the whole document for any number of runs; `relations` says how runs relate (siblings, twins)."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "vocabulary_version": vocabulary_version(),
        "runs": [run_dict(d) for d in diagnoses],
        "relations": [clean(r) for r in relations],
    }


def error_document(error: FirstbreakError) -> dict[str, Any]:
    """Return the document printed instead when a command fails."""
    return {"error": {"kind": error.kind, "message": error.message, "hint": error.hint}}


def run_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the entry of one run."""
    entry = {
        "run": _run(diagnosis.log),
        "verdict": diagnosis.verdict.value,
        "first_break": first_break_dict(diagnosis.first_break),
        "causes": [_cause(c) for c in diagnosis.causes],
        "findings": [finding_dict(f) for f in diagnosis.findings],
        "coverage": _coverage(diagnosis.coverage),
        "last_healthy_checkpoint": diagnosis.last_healthy_checkpoint,
        "advice": diagnosis.advice.value,
        "confirm_with": [_confirmation(c) for c in diagnosis.confirm_with],
        "unlock_with": [name for name, _ in diagnosis.coverage.unlock],
        "clear": list(diagnosis.clear),
        "against": against_dict(diagnosis.log.against),
        "notes": list(diagnosis.notes),
        "tried": list(diagnosis.tried),
    }
    return clean(entry)


def against_dict(found: Against | None) -> dict[str, Any] | None:
    """Return how the run stands beside healthy ones, None where none were given."""
    if found is None:
        return None
    departures = [{**asdict(d), "scope": d.scope.as_dict()} for d in found.departures]
    return {"runs": found.runs, "compared": found.compared, "left": departures, "settings": list(found.settings)}


def first_break_dict(first: FirstBreak | None) -> dict[str, Any] | None:
    """Return what broke first, None when nothing is known to be broken."""
    if first is None:
        return None
    return {
        "link": first.link.value,
        "component": first.component.value,
        "scope": first.scope.as_dict(),
        "rule": first.rule,
        "name": first.name,
        "metric": first.metric,
        "onset": _onset(first.onset),
    }


def _run(log: RunLog) -> dict[str, Any]:
    provenance = log.provenance
    return {
        "path": log.path,
        "framework": log.framework or None,
        "algorithm": log.algorithm or None,
        "verified": log.verified,
        "state": log.state or None,
        "clock": log.clock,
        "steps": log.last_step,
        "metrics": len(log.metrics),
        "unmapped": sorted(log.unmapped),
        "provenance": {
            "read": list(provenance.read),
            "left": [{"path": path, "reason": reason} for path, reason in provenance.left],
            "readers": list(provenance.readers),
            "problems": [
                {"path": p.path, "where": p.where, "what": p.what, "remedy": p.remedy} for p in provenance.problems
            ],
        },
    }


def _onset(onset: Onset) -> dict[str, Any]:
    return {"lo": onset.lo, "hi": onset.hi, "clock": onset.clock, "p": onset.p}


def _cause(cause: RankedCause) -> dict[str, Any]:
    return {
        "name": cause.name,
        "summary": cause.summary,
        "link": cause.link.value,
        "component": cause.component.value,
        "score": cause.score,
        "explains": list(cause.explains),
        "against": list(cause.against),
        "rivals": list(cause.rivals),
        "separate_with": list(cause.separate_with),
        "not_excluded": [{"cause": o.cause, "link": o.link.value, "log": list(o.log)} for o in cause.not_excluded],
        "confirm_with": [_confirmation(c) for c in cause.confirm_with],
        "remedies": [
            {
                "text": r.text,
                "requires": [link.value for link in r.requires],
                "provisional": r.provisional,
                "patches": [_patch(p) for p in r.patches],
            }
            for r in cause.remedies
        ],
    }


def _patch(patch: Patch) -> dict[str, Any]:
    return {
        "kind": patch.kind,
        "framework": patch.framework,
        "versions": patch.versions,
        "format": patch.format,
        "source": patch.source,
        "note": patch.note,
        "set": [
            {"key": c.key, "value": c.value, "remove": c.remove, "old": c.old if c.known else None}
            for c in patch.changes
        ],
        "diff": list(patch.lines),
    }


def _confirmation(confirmation: Confirmation) -> dict[str, Any]:
    return {
        "experiment": confirmation.experiment,
        "command": command_for(confirmation),
        "recipe": confirmation.recipe,
        "evidence": confirmation.evidence,
    }


def finding_dict(finding: Finding) -> dict[str, Any]:
    """Return one finding, the same in every document."""
    return {
        "id": finding.id,
        "rule": finding.rule,
        "name": finding.name,
        "params_hash": finding.params_hash,
        "link": finding.link.value,
        "component": finding.component.value,
        "scope": finding.scope.as_dict(),
        "severity": finding.severity.value,
        "metric": finding.metric,
        "onset": _onset(finding.onset),
        "resolved_at": finding.resolved_at,
        "message": finding.message,
        "evidence": dict(finding.evidence),
        "confidence": finding.confidence.value,
        "static": finding.static,
        "consequence_of": finding.consequence_of,
        "ignored": finding.ignored or None,
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "links": {link.value: coverage.links[link].value for link in LOOP if link in coverage.links},
        "looked": coverage.looked,
        "applicable": coverage.applicable,
        "skipped": [_skipped(s) for s in coverage.skipped],
        "errors": [{"rule": rule, "message": message} for rule, message in coverage.errors],
        "unlock": [{"name": name, "rules": rules} for name, rules in coverage.unlock],
        "profile_missing": list(coverage.profile_missing),
    }


def _skipped(skipped: Skipped) -> dict[str, Any]:
    return {
        "rule": skipped.rule,
        "name": skipped.name,
        "reason": skipped.reason,
        "unlock_with": list(skipped.unlock_with),
        "applies": skipped.applies,
    }
