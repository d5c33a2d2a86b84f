"""`run_plan`: go through the checklist with what `[preflight]` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ...diagnosis import Verdict
from ...errors import FirstbreakError
from ...finding import Link, Severity
from ...inspection import Inspection, together
from .calls import INSPECTORS, Inspector, Settings
from .record import QUESTIONS, Record, read_record
from .rows import Row, all_rows
from .settings import proper


class Status(StrEnum):
    """How a row ended."""

    PASSED = "pass"
    FAILED = "fail"
    NOT_LOOKED = "not looked at"


@dataclass(frozen=True)
class RowResult:
    """One row: how it ended and why; `add` is what firstbreak.toml needs for a row that was not looked at."""

    id: str
    part: str
    question: str
    link: Link
    status: Status
    why: str
    add: str = ""
    findings: tuple[str, ...] = ()
    """Names of the checks that made it fail."""

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {
            "id": self.id, "part": self.part, "question": self.question, "link": self.link.value,
            "status": self.status.value, "why": self.why, "add": self.add, "findings": list(self.findings),
        }  # fmt: skip


@dataclass(frozen=True)
class Checklist:
    """All rows, the inspections that decided them, and what could not be done."""

    rows: tuple[RowResult, ...]
    inspections: tuple[Inspection, ...]
    problems: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Broken if any inspection is; healthy only if all are, no row failed and nothing went wrong."""
        verdict = together(self.inspections)
        if verdict is Verdict.HEALTHY and (self.problems or self.count(Status.FAILED)):
            return Verdict.UNDECIDED
        return verdict

    def count(self, status: Status) -> int:
        """Return how many rows ended so."""
        return sum(row.status is status for row in self.rows)


def run_plan(
    settings: Settings,
    *,
    tell: Callable[[str], None] | None = None,
    inspectors: Mapping[str, Inspector] | None = None,
) -> Checklist:
    """Make every inspection that `settings` name, outermost first, and answer every row.

    Args:
        settings: the table `[preflight]` of firstbreak.toml.
        tell: hears one line before each inspection.
        inspectors: kind -> inspector, to take the place of firstbreak's own.

    Raises:
        ConfigError: a key of `settings` is unknown or of another kind.
    """
    proper(settings)
    seen: dict[str, Inspection] = {}
    problems: dict[str, str] = {}
    for kind, inspector in (INSPECTORS if inspectors is None else inspectors).items():
        try:
            if tell is not None and wanted(kind, settings):
                tell(f"preflight: {kind}")
            one = inspector(settings)
        except FirstbreakError as error:
            problems[kind] = str(error)
        except Exception as error:  # an inspection that fails is a line of the report, not the end of the others
            problems[kind] = f"{type(error).__name__}: {error}"[:300]
        else:
            if one is not None:
                seen[kind] = one
    record = _record(settings, problems)
    rows = tuple(answer(row, seen, problems, record, settings) for row in all_rows())
    return Checklist(rows, tuple(seen.values()), tuple(f"{kind}: {why}" for kind, why in problems.items()))


WANTED_BY: dict[str, tuple[str, ...]] = {
    "environment": ("environment",),
    "policy": ("policy",),
    "reward": ("reward", "environment"),
    "task": ("returns", "baselines", "environment"),
    "data": ("data",),
    "memory": ("memory",),
    "invariants": ("trainer",),
    "probes": ("trainer", "trainer_script"),
}
"""Kind -> settings any of which leads to an inspection."""


def wanted(kind: str, settings: Settings) -> bool:
    """Whether `settings` name something of this kind."""
    return any(settings.get(key) for key in WANTED_BY.get(kind, ()))


def _record(settings: Settings, problems: dict[str, str]) -> Record | None:
    if not settings.get("run"):
        return None
    try:
        return read_record(Path(settings["run"]), tuple(str(c) for c in settings.get("components", ())))
    except FirstbreakError as error:
        problems["run"] = str(error)
        return None


def answer(
    row: Row,
    seen: Mapping[str, Inspection],
    problems: Mapping[str, str],
    record: Record | None,
    settings: Settings | None = None,
) -> RowResult:
    """Return how `row` ended; of the lines to add those that `settings` lack."""
    if row.record:
        return _from_record(row, problems, record)
    parts = [_from_inspection(seen[kind], names) for kind, names in row.look.items() if kind in seen]
    failed = [p for p in parts if p[0] is Status.FAILED]
    if failed:
        return _ended(row, Status.FAILED, failed[0][1], [name for p in failed for name in p[2]])
    missing = [kind for kind in row.look if kind not in seen]
    broken = [kind for kind in missing if kind in problems]
    if broken:
        return _ended(row, Status.NOT_LOOKED, " ".join(problems[broken[0]].splitlines()), add="")
    if missing:
        why = f"firstbreak.toml names nothing for: {', '.join(missing)}"
        return _ended(row, Status.NOT_LOOKED, why, add=_lacking(row, settings or {}))
    open_parts = [p for p in parts if p[0] is Status.NOT_LOOKED]
    if open_parts:
        return _ended(row, Status.NOT_LOOKED, open_parts[0][1])
    return _ended(row, Status.PASSED, "; ".join(p[1] for p in parts))


RUN = 'run = "config.yaml"'
Part = tuple[Status, str, Sequence[str]]


def _from_inspection(one: Inspection, names: tuple[str, ...]) -> Part:
    """Judge one inspection, or the checks of it that are named: a finding at warning or above fails."""
    bad = [
        f
        for f in one.findings
        if f.severity.rank >= Severity.WARNING.rank and not f.ignored and (not names or f.name in names)
    ]
    if bad:
        return Status.FAILED, bad[0].message, [f.name for f in bad]
    if not names:
        if one.verdict is Verdict.HEALTHY and one.looked:
            return Status.PASSED, f"{one.looked} checks of {one.kind} are clear", ()
        first = next((f"{name}: {why}" for name, why in one.errors), "")
        reason = next((f"{s.name}: {s.reason}" for s in one.skipped), "nothing could be looked at")
        return Status.NOT_LOOKED, first or next(iter(one.notes), reason), ()
    return _named(one, names)


def _named(one: Inspection, names: tuple[str, ...]) -> Part:
    """Judge the named checks: each must have looked or not be concerned, and one at least must have looked."""
    errors = {name: why for name, why in one.errors if name in names}
    if errors:
        return Status.NOT_LOOKED, next(f"{name}: {why}" for name, why in errors.items()), ()
    looked = {*one.clear, *(f.name for f in one.findings)} & set(names)
    skipped = {s.name: s for s in one.skipped if s.name in names}
    could = [s for s in skipped.values() if s.applies]
    if could:
        unlock = f" (needs {', '.join(could[0].unlock_with)})" if could[0].unlock_with else ""
        return Status.NOT_LOOKED, f"{could[0].name}: {could[0].reason}{unlock}", ()
    if not looked:
        reason = next((s.reason for s in skipped.values()), "no such check was made")
        return Status.NOT_LOOKED, reason, ()
    return Status.PASSED, f"{len(looked)} of {len(names)} checks looked and are clear", ()


def _from_record(row: Row, problems: Mapping[str, str], record: Record | None) -> RowResult:
    if record is None and "run" in problems:
        return _ended(row, Status.NOT_LOOKED, " ".join(problems["run"].splitlines()), add="")
    if record is None:
        return _ended(row, Status.NOT_LOOKED, "firstbreak.toml names no configuration of the run", add=RUN)
    good, why = QUESTIONS[row.record](record)
    status = Status.NOT_LOOKED if good is None else Status.PASSED if good else Status.FAILED
    return _ended(row, status, why)


def _lacking(row: Row, settings: Settings) -> str:
    """Return the lines that the row needs and the settings lack."""
    lines = row.add.splitlines()
    return "\n".join([line for line in lines if line.split(" ")[0] not in settings] or lines)


def _ended(row: Row, status: Status, why: str, findings: Sequence[str] = (), *, add: str | None = None) -> RowResult:
    add = (row.add if add is None else add) if status is Status.NOT_LOOKED else ""
    return RowResult(row.id, row.part, row.question, row.link, status, why, add, tuple(findings))
