"""The three checklists, before, during and after training, each row with its evidence or as missing."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from ..context.contents import NAME as RECORD
from ..diagnosis import Skipped
from ..errors import InputError, UnreadableError
from ..finding import Severity
from ..preflight.checklist.rows import all_rows
from .evidence import Evidence, Line, Run, count, names
from .runs import PREFLIGHT, PROTOCOL
from .stored import failed

DONE, FAILED, MISSING, NOT_NEEDED = "done", "failed", "missing", "not needed"
_STATUS = {"pass": DONE, "fail": FAILED}


def before(runs: Sequence[Run], given: str | Path | None = None) -> tuple[Line, ...]:
    """Return the checklist before training, from what `firstbreak preflight --format json` wrote.

    Raises:
        InputError: the file given is no such document; UnreadableError: it cannot be read.
    """
    path = Path(given) if given is not None else _beside(runs)
    told = _rows_of(path, strict=given is not None) if path is not None else {}
    lines: list[Line] = []
    for row in all_rows():
        if row.part != "before training":
            continue
        found = told.get(row.id)
        status = _STATUS.get(str(found.get("status")), MISSING) if found else MISSING
        why = str(found.get("why", "")) if found else "no preflight was made, or its result was not kept"
        evidence = (PREFLIGHT,) if found and status != MISSING else ()
        by_runs = _by_runs(row.id, runs) if status != DONE else None
        if by_runs is not None:
            status, why, evidence = DONE, *by_runs
        add = "" if status != MISSING else _to_add(row.id, found, runs)
        lines.append(Line(row.id, row.question, status, why, evidence, add))
    return tuple(lines)


def _by_runs(row: str, runs: Sequence[Run]) -> tuple[str, tuple[str, ...]] | None:
    """Return the answer that the runs themselves give to a row, and what it rests on; None where they give none."""
    if row == "evaluation-protocol" and runs and all(run.protocol_file for run in runs):
        return f"{runs[0].protocol_file} beside the runs fixes it, hash {runs[0].protocol[:12]}", (
            runs[0].protocol_file,
        )
    peaks = [
        run.context.ending.peak_memory_bytes for run in runs if run.context is not None and run.ended == "finished"
    ]
    known = [peak for peak in peaks if peak]
    if row == "memory-estimate" and runs and len(known) == len(runs):
        return f"it held them: every run ended, with at most {max(known) / (1 << 30):.2g} GiB of host memory", (RECORD,)
    return None


def _to_add(row: str, found: dict[str, Any] | None, runs: Sequence[Run]) -> str:
    """Return what a row lacks, and where it belongs: a protocol, a line for preflight, or preflight itself."""
    above = _folders(runs[0])[-1] if runs else Path()
    if row == "evaluation-protocol":
        return (
            f"firstbreak eval protocol init {above / PROTOCOL} --kind control (or language, agent, games); fill it in"
        )
    if row == "memory-estimate":
        return 'in firstbreak.toml: memory = "memory.toml"; or runs recorded to their end (firstbreak record)'
    asked = str(found.get("add") or "") if found else ""
    if asked:
        return f"in firstbreak.toml, under [preflight]: {asked}; then preflight anew"
    return f"firstbreak preflight --format json --output {above / PREFLIGHT}"


def _folders(run: Run) -> tuple[Path, Path]:
    """Return the folder of a run and the one above it."""
    place = Path(run.path.partition("#")[0])
    folder = place if place.is_dir() else place.parent
    return folder, folder.parent


def preflight_file(runs: Sequence[Run], given: str | Path | None = None) -> Path | None:
    """Return the document that the checklist before training was read from."""
    return Path(given) if given is not None else _beside(runs)


def _beside(runs: Sequence[Run]) -> Path | None:
    for run in runs:
        for folder in _folders(run):
            if (folder / PREFLIGHT).is_file():
                return folder / PREFLIGHT
    return None


def _rows_of(path: Path, *, strict: bool) -> dict[str, dict[str, Any]]:
    hint = f"Make one: firstbreak preflight --format json --output {PREFLIGHT}"
    try:
        data = json.loads(path.read_text("utf-8"))
        rows = cast("list[dict[str, Any]]", data["rows"])
        return {str(row["id"]): row for row in rows}
    except OSError as error:
        if strict:
            raise UnreadableError(f"{path}: {error.strerror}.", hint) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if strict:
            raise InputError(f"{path}: no checklist of preflight.", hint) from error
    return {}


@cache
def _signals() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads(files("firstbreak.release").joinpath("during.toml").read_text("utf-8"))["row"])


def during(runs: Sequence[Run]) -> tuple[Line, ...]:
    """Return the checklist during training: which signals were looked at in every run, and what they showed."""
    return tuple(_signal(row, runs) for row in _signals())


def _signal(row: dict[str, Any], runs: Sequence[Run]) -> Line:
    rules = set(row["rules"])
    seen: list[str] = []
    worst = 0
    blind: list[Run] = []
    concerned = False
    wanted: list[str] = []
    for run in runs:
        fired = [f for f in run.diagnosis.findings if f.name in rules and not f.ignored]
        clear = rules & set(run.diagnosis.clear)
        lacking = [s for s in run.diagnosis.coverage.skipped if s.name in rules and s.applies]
        concerned |= bool(fired or clear or lacking)
        seen += [f"{run.name}: {f.message}" for f in fired if f.severity is not Severity.INFO]
        worst = max([worst, *(f.severity.rank for f in fired)])
        if not fired and not clear and lacking:
            blind.append(run)
            wanted += [_needed(s) for s in lacking]
    if not concerned:
        return Line(row["id"], row["question"], NOT_NEEDED, "does not concern these runs")
    if seen:
        status = FAILED if worst == Severity.ERROR.rank else DONE
        return Line(row["id"], row["question"], status, f"{count(len(seen), 'finding')}: {seen[0]}; {row['action']}",
                    tuple(seen))  # fmt: skip
    if blind:
        add = f"let the training log any one of: {'; '.join(list(dict.fromkeys(wanted))[:3])}"
        return Line(row["id"], row["question"], MISSING, f"could not be looked at in {names(blind)}", (), add)
    return Line(row["id"], row["question"], DONE, f"looked at in {count(len(runs), 'run')}, nothing seen")


def _needed(skipped: Skipped) -> str:
    """Return what would let a rule look: the metric that it lacks, or how many points more."""
    first = next(iter(skipped.unlock_with), "")
    return (
        first
        if first and not first.startswith("more points")
        else f"what {skipped.name} reads oftener: it {skipped.reason}"
    )


def after(evidence: Evidence) -> tuple[Line, ...]:
    """Return the checklist after training: the six deliverables."""
    runs = evidence.runs
    broken = [run for run in runs if failed(run)]
    intervals = [g for g in evidence.results.groups if g.iqm is not None]
    samples, private = evidence.samples, evidence.private
    return (
        _role("best-checkpoint", "Best checkpoint by evaluation", "best", evidence, list(runs),
              "save one at every evaluation, or keep the trainer's best"),
        _role("last-checkpoint", "Last checkpoint", "last", evidence, list(runs), "save one at the end"),
        _role("failed-checkpoint", "Failed checkpoint", "failed", evidence, broken,
              "save on failure: firstbreak.Monitor keeps failed states"),
        _line("reward-audit", "Reward audit samples", samples is not None,
              "" if samples is None else f"{samples.verdict.value}: {samples.looked} checks looked",
              "reward_audit.json", "give samples of the released checkpoint: --samples rollouts.jsonl"),
        _line("many-seeds", "Results of several seeds", bool(intervals),
              "; ".join(f"{count(len(g.runs), 'run')} of {g.task or 'one task'}" for g in intervals), "results.json",
              "train 5 or more seeds of one setting, evaluated alike"),
        _line("private-set", "Report on the private set", private is not None,
              "" if private is None else f"{private.before:g} before, {private.after:g} after",
              "results.json", "evaluate best and baseline on the private set once: rows `private` in scores.csv"),
    )  # fmt: skip


def _line(identifier: str, question: str, there: bool, answer: str, file: str, add: str) -> Line:
    if there:
        return Line(identifier, question, DONE, answer, (file,))
    return Line(identifier, question, MISSING, "not there", (), add)


def _role(identifier: str, question: str, role: str, evidence: Evidence, wanted: list[Run], add: str) -> Line:
    found = [one for one in evidence.of_role(role) if one.sha256]
    have = {one.run for one in found}
    lacking = [run for run in wanted if run.name not in have]
    files_of = tuple(one.copied_to or f"{one.path} (sha256 {one.sha256[:12]})" for one in found)
    if not wanted and not found:
        return Line(identifier, question, NOT_NEEDED, "no run failed")
    if lacking:
        return Line(identifier, question, MISSING, f"not there for {names(lacking)}", files_of, add)
    return Line(identifier, question, DONE, f"{len(found)} with hashes", files_of)
