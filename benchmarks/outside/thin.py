"""What a log of return and losses alone is good for: ordinary logs as they are, and stripped to these.

python -m benchmarks.outside.thin   # half a minute

Of algorithms whose profile asks for more than a return and losses only since this was measured. `calm` counts runs of
which nothing is said and whose return has risen and stayed: those that would be healthy were return and losses enough.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.outside.plans import LISTINGS, Listing, Plan
from benchmarks.outside.record import read_manifest
from benchmarks.outside.score import counted
from firstbreak.api import diagnose_log, load_runs
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.runlog import RunLog

KEPT = frozenset(
    {"reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return"}
    | {"optim/loss_total", "critic/loss", "policy/loss"}
)
OTHERS = ("PPO", "RecurrentPPO", "TRPO", "SAC", "TQC")
"""Algorithms whose profile asked for more before: without a KL or a temperature none of their runs was healthy."""


def log_of(plan: Plan, listing: Listing) -> RunLog:
    """Return the fullest log of a recorded run."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        with tarfile.open(listing.runs / f"{plan.id}.tar.xz", "r:xz") as packed:
            packed.extractall(folder, filter="data")
        return max(load_runs(folder), key=lambda log: sum(map(len, log.series)))


def calm(found: Diagnosis) -> bool:
    """Whether nothing is said of a run, and its return rose and stayed: all that is missing is what was not logged."""
    alarms = [f for f in found.findings if f.severity.rank and not f.ignored]
    known = not any(item.startswith(("the algorithm", "at least")) for item in found.coverage.profile_missing)
    return not alarms and not found.coverage.withheld and known


def judged() -> Iterator[tuple[str, str, Diagnosis]]:
    """Yield what is said of each run that counts: the kind of the run, the kind of its log, the diagnosis."""
    for listing in LISTINGS.values():
        faulty, healthy, _ = counted(read_manifest(listing), listing)
        for kind, plans in (("faulty", faulty), ("healthy", healthy)):
            for plan in plans:
                if plan.base.algorithm in OTHERS:
                    continue
                log = log_of(plan, listing)
                thin = replace(log, series=tuple(s for s in log.series if s.metric in KEPT))
                yield kind, "as it is", diagnose_log(log, Settings())
                yield kind, "return and losses", diagnose_log(thin, Settings())


def main() -> None:
    runs, told, quiet = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for kind, what, found in judged():
        runs[what, kind] += 1
        told[what, kind] += found.verdict is Verdict.HEALTHY
        quiet[what, kind] += calm(found)
    for what, kind in sorted(runs):
        print(f"{what}, {kind}: {runs[what, kind]} runs, calm {quiet[what, kind]}, healthy {told[what, kind]}")


if __name__ == "__main__":
    main()
