"""Tables of agent samples for tests: measured by the agents' measures alone, which is all that their checks read."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from firstbreak.audit.collecting import Collector
from firstbreak.audit.measure import Measure, all_measures
from firstbreak.audit.sample import Sample
from firstbreak.audit.table import Table
from firstbreak.check import Check, Look, checks_of, look_at
from firstbreak.finding import Severity


@cache
def measures() -> tuple[Measure, ...]:
    return tuple(m for m in all_measures() if ".agents_" in m.module)


@cache
def checks() -> tuple[Check, ...]:
    return tuple(c for c in checks_of("samples") if c.module.startswith("firstbreak.audit.checks.agents."))


def table_of(samples: Iterable[Sample]) -> Table:
    collector = Collector(measures())
    for sample in samples:
        collector.add(sample)
    table = collector.table()
    assert not table.faults
    return table


def looks(table: Table) -> dict[str, Look]:
    found = {c.name: look_at(c, table) for c in checks()}
    assert not {name: k.error for name, k in found.items() if k.error}
    return found


def alarms(table: Table) -> dict[str, str]:
    """Check -> message of what fired at warning or above."""
    severity = {c.name: c.severity for c in checks()}
    return {
        name: k.symptom.message
        for name, k in looks(table).items()
        if k.symptom is not None and (k.symptom.severity or severity[name]) is not Severity.INFO
    }


def fired(table: Table) -> set[str]:
    return {name for name, k in looks(table).items() if k.symptom is not None}
