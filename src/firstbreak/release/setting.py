"""Whether runs that are pooled differ in the seed alone."""

from __future__ import annotations

from collections.abc import Sequence

from ..comparison import Comparison
from ..context.comparing import Difference, differences, explain
from ..context.replaying import MATTERS
from ..runlog import RunLog
from .evidence import Odd, Run


def odd_ones(runs: Sequence[Run]) -> tuple[Odd, ...]:
    """Return the runs that differ from the first of their task and algorithm in more than the seed."""
    first: dict[tuple[str, str], Run] = {}
    found: list[Odd] = []
    for run in runs:
        other = first.setdefault((run.task, run.algorithm), run)
        if other is run:
            continue
        mattering = tuple(d for d in _differences(other, run) if d.kind != "seed" and d.weight >= MATTERS)
        if mattering:
            found.append(Odd(run.name, other.name, mattering))
    return tuple(found)


def _differences(a: Run, b: Run) -> tuple[Difference, ...]:
    """Return what differs in the records; in the settings that the logs hold where a record is not there."""
    if a.context is not None and b.context is not None:
        return differences(a.context, b.context)
    return explain(_unparted(a.diagnosis.log, b.diagnosis.log)).differences


def _unparted(a: RunLog, b: RunLog) -> Comparison:
    """Compare settings only: seeds part everywhere, and where they part says nothing."""
    from ..comparison import config_differences

    return Comparison(a, b, (), (), (), config_differences(a.config, b.config))


def silent(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of which no setting is known, neither from a record nor from the log."""
    return [run for run in runs if not run.diagnosis.log.config and (run.context is None or not run.context.command)]
