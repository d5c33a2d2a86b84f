"""The machine-readable side of a release: the document on stdout, the results, the body of the manifest."""

from __future__ import annotations

from typing import Any

from ... import __version__
from ...context.gathering import now
from ...diagnosis import Verdict
from ...evaluation.statistics.intervals import Interval
from ...evaluation.statistics.profiles import Profile
from ...release.building import Release
from ...release.evidence import Change, Group, Line, Run, Stored
from ...release.ruling import Outcome, Ruled
from ..json import SCHEMA_VERSION, clean, finding_dict
from ..words import short_path

VERDICTS = {Outcome.GO: Verdict.HEALTHY, Outcome.NO_GO: Verdict.BROKEN, Outcome.UNDECIDED: Verdict.UNDECIDED}


def document(release: Release, folder: str = "", seal: str = "") -> dict[str, Any]:
    """Return the release in the outer shape of every judging command."""
    evidence = release.evidence
    findings = [f for run in evidence.runs for f in run.diagnosis.findings]
    findings += evidence.samples.findings if evidence.samples is not None else ()
    ruled = [ruling.ruled for _, ruling in release.rulings]
    own = {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "verdict": VERDICTS[release.outcome].value,
        "outcome": release.outcome.value,
        "findings": [finding_dict(f) for f in findings],
        "coverage": {
            "looked": sum(r in (Ruled.GOOD, Ruled.BAD) for r in ruled),
            "applicable": sum(r is not Ruled.NOT_ASKED for r in ruled),
        },
        "folder": folder or None,
        "seal": seal or None,
    }
    return clean({**own, **_judged(release), "results": results(release), "problems": list(evidence.problems)})


def body(release: Release) -> dict[str, Any]:
    """Return the manifest without its files and seal."""
    evidence = release.evidence
    own = {
        "tool_version": __version__,
        "created": now(),
        "name": release.name,
        "outcome": release.outcome.value,
        "runs": [_run(run) for run in evidence.runs],
        "baseline": [_run(run) for run in evidence.baseline],
    }
    return clean({**own, **_judged(release)})


def _judged(release: Release) -> dict[str, Any]:
    return {
        "gate": [
            {"rule": rule.name, "question": rule.question, "ruled": ruling.ruled.value, "text": ruling.text,
             "give": ruling.give}
            for rule, ruling in release.rulings
        ],
        "missing": [rule.name for rule, ruling in release.rulings if ruling.ruled is Ruled.MISSING],
        "checklists": {
            "before": [_line(line) for line in release.evidence.before],
            "during": [_line(line) for line in release.evidence.during],
            "after": [_line(line) for line in release.after],
        },
        "checkpoints": [_stored(one) for one in release.evidence.checkpoints],
    }  # fmt: skip


def results(release: Release) -> dict[str, Any]:
    """Return what the runs scored, for `results.json`."""
    evidence = release.evidence
    return clean(
        {
            "groups": [_group(group) for group in evidence.results.groups],
            "over_tasks": _interval(evidence.results.overall),
            "remarks": list(evidence.results.remarks),
            "curves": {
                run.name: {"metric": run.metric, "step": run.step.tolist(), "score": run.score.tolist()}
                for run in (*evidence.runs, *evidence.baseline)
            },
            "selection": {
                "chosen": list(evidence.selection.chosen),
                "fresh": list(evidence.selection.fresh),
                "gain": _interval(evidence.selection.gain),
                "corrected": _interval(evidence.selection.corrected),
                "evaluations": evidence.selection.evaluations,
                "expected_at_most": evidence.selection.expected,
                "remarks": list(evidence.selection.remarks),
            },
            "private": _change(evidence.private),
            "training_reward": _change(evidence.reward),
            "more_than_the_seed": [
                {"run": o.run, "against": o.against,
                 "differences": [{"kind": d.kind, "name": d.name, "a": d.a, "b": d.b, "weight": d.weight}
                                 for d in o.differences]}
                for o in evidence.odd
            ],
        }
    )  # fmt: skip


def _group(group: Group) -> dict[str, Any]:
    return {
        "task": group.task, "algorithm": group.algorithm, "protocol": group.protocol, "metric": group.metric,
        "runs": list(group.runs), "scores": list(group.scores), "best": list(group.best),
        "at": group.horizon, "clock": group.clock,
        "iqm": _interval(group.iqm), "mean": _interval(group.mean), "measured_coverage": group.coverage,
        "baseline": list(group.baseline), "probability_of_improvement": _interval(group.improvement),
        "profile": _profile(group.profile), "baseline_profile": _profile(group.baseline_profile),
        "remarks": list(group.remarks),
    }  # fmt: skip


def _interval(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"value": found.value, "lo": found.lo, "hi": found.hi, "level": found.level, "method": found.method,
            "runs": found.runs}  # fmt: skip


def _profile(found: Profile | None) -> dict[str, Any] | None:
    if found is None:
        return None
    lo, hi = (None if v is None else v.tolist() for v in (found.lo, found.hi))
    return {"thresholds": found.thresholds.tolist(), "share": found.share.tolist(), "lo": lo, "hi": hi}


def _change(found: Change | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"before": found.before, "after": found.after, "against": found.against, "direction": found.direction,
            "better": found.better,
            "difference": _interval(found.difference), "runs": found.runs}  # fmt: skip


def _line(line: Line) -> dict[str, Any]:
    return {"id": line.id, "question": line.question, "status": line.status, "answer": line.answer,
            "evidence": list(line.evidence), "add": line.add}  # fmt: skip


def _stored(one: Stored) -> dict[str, Any]:
    return {"run": one.run, "role": one.role, "path": None if one.copied_to else one.path, "sha256": one.sha256,
            "bytes": one.size_bytes,
            "step": one.step, "score": one.score, "how": one.how,
            "structure": None if one.structure is None else one.structure.state.value,
            "structure_why": None if one.structure is None else one.structure.why,
            "copied_to": one.copied_to or None}  # fmt: skip


def _run(run: Run) -> dict[str, Any]:
    first = run.diagnosis.first_break
    code = run.context.code if run.context is not None else None
    return {
        "name": run.name, "path": short_path(run.path), "task": run.task, "algorithm": run.algorithm,
        "seed": run.seed or None, "protocol": run.protocol,
        "protocol_settings": dict(run.protocol_settings), "metric": run.metric or None,
        "steps": run.last_step, "ended": run.ended or None, "verdict": run.diagnosis.verdict.value,
        "first_break": first.name if first is not None else None, "commit": (code.commit if code else "") or None,
        "uncommitted_sha256": (code.diff_sha256 if code else "") or None,
    }  # fmt: skip
