"""What is wrong with one rank among many is seen by who reads all their records, not by the monitor of one rank."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firstbreak import Monitor, diagnose
from firstbreak.monitor.watching.events import Kind

RANKS, UPDATES, FROM = 3, 24, 10
OF_RANKS = ("rank-straggler", "rank-skips-optimiser", "ranks-diverge")


def row(rank: int, update: int, trouble: str) -> dict[str, float]:
    """A row of one rank; rank 1 is in trouble from the update `FROM` on."""
    late = max(0, update - FROM) if rank == 1 else 0
    return {
        "time/update_s": 3.0 if late and trouble == "rank-straggler" else 1.0 + 0.01 * (update % 3),
        "optim/n_updates": float(update - (late if trouble == "rank-skips-optimiser" else 0)),
        "net/weight_hash": float(update + 100 * late * (trouble == "ranks-diverge")),
    }


@pytest.mark.parametrize("trouble", [*OF_RANKS, ""])
def test_watch_and_diagnose_name_the_rank_and_its_own_monitor_does_not(
    trouble: str, tmp_path: Path, stage: Callable[..., Any]
) -> None:
    s = stage(tmp_path, rules=OF_RANKS)
    monitors = [Monitor(tmp_path, rank=rank, clock="updates", time_share=math.inf) for rank in range(RANKS)]
    told: list[tuple[int, str, str]] = []
    for update in range(1, UPDATES + 1):
        for rank, monitor in enumerate(monitors):
            monitor.log(row(rank, update, trouble), step=update)
            monitor.flush()
        events = s.poll()
        told += [(update, f.name, f.scope.rank) for e in events if e.kind is Kind.FINDING for f in e.findings]
    for monitor in monitors:
        monitor.close()
    found = {(f.name, f.scope.rank) for f in diagnose(tmp_path).findings if f.name in OF_RANKS}
    assert found == ({(trouble, "1")} if trouble else set())
    assert {(name, rank) for _, name, rank in told} == found
    assert all(update > FROM for update, _, _ in told)
    assert not any(alarm.finding.name in OF_RANKS for monitor in monitors for alarm in monitor.alarms)
