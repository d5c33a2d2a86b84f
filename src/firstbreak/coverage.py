"""What was looked at and what was not: "could not look" is never shown as "healthy"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .diagnosis import Coverage, Sight, Skipped
from .engine import Ending, Outcome
from .finding import Link, Severity
from .runlog import RunLog
from .vocabulary import algorithms

MIN_ROWS = 8
"""Rows under which no run is called healthy: two stretches of four are the least that can be compared."""


def cover(log: RunLog, outcomes: Sequence[Outcome]) -> Coverage:
    """Summarise how far the rules could look at `log`."""
    looked = {Ending.FIRED, Ending.CLEAR}
    skipped = tuple(
        Skipped(o.rule.code, o.rule.name, o.reason, o.unlock_with, applies=not o.reason.startswith("does not apply"))
        for o in outcomes
        if o.status is Ending.SKIPPED
    )
    applicable = [o for o in outcomes if not (o.status is Ending.SKIPPED and o.reason.startswith("does not apply"))]
    links: dict[Link, Sight] = {}
    for link in Link:
        mine = [o for o in applicable if o.rule.link is link]
        seen = sum(o.status in looked for o in mine)
        links[link] = Sight.BLIND if seen == 0 else Sight.LOOKED if 2 * seen >= len(mine) else Sight.PARTIAL
    wanted = Counter(item for s in skipped if s.applies for item in s.unlock_with)
    failed = tuple(
        link
        for link in Link
        if any(
            f.severity is Severity.ERROR and not f.ignored for o in outcomes if o.rule.link is link for f in o.findings
        )
    )
    return Coverage(
        links=links,
        looked=sum(o.status in looked for o in outcomes),
        applicable=len(applicable),
        skipped=skipped,
        errors=tuple((o.rule.name, o.reason) for o in outcomes if o.status is Ending.ERROR),
        unlock=tuple(sorted(wanted.items(), key=lambda item: (-item[1], item[0]))),
        profile_missing=missing_profile(log),
        failed=failed,
    )


def missing_profile(log: RunLog) -> tuple[str, ...]:
    """What the algorithm's minimum profile lacks in this log; an unknown algorithm lacks its name."""
    algorithm = algorithms().get(log.algorithm)
    if algorithm is None:
        return ("the algorithm (name it with --algorithm)",)
    have = set(log.metrics)
    missing = [" or ".join(group) for group in algorithm.profile if not have & set(group)]
    rows = max((len(s) for s in log.series), default=0)
    if rows < MIN_ROWS:
        missing.append(f"at least {MIN_ROWS} logged rows (has {rows})")
    return tuple(missing)
