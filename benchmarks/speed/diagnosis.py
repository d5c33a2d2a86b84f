"""Time of all rules on a large run in memory, against the budget of docs/design.md, section 10 (2 s on one core)."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import resource
import time
from dataclasses import replace

import numpy as np

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.registry import all_rules
from firstbreak.rule import Rule
from firstbreak.runlog import RunLog
from firstbreak.series import Curve, Series
from firstbreak.vocabulary import metrics

SERIES, POINTS = 100, 100_000
BUDGET_S = 2.0


def large_run(algorithm: str) -> RunLog:
    """A healthy run of `POINTS` rows, filled up to `SERIES` series with noise under other canonical names."""
    log = synth.like(algorithm, n=POINTS)()
    steps = np.arange(1.0, POINTS + 1)
    present = {s.metric for s in log.series}
    rng = np.random.default_rng(0)
    spare = [m for m in metrics().values() if m.name not in present and not m.family]
    more = []
    for spec in spare[: SERIES - len(log.series)]:
        lo, hi = max(spec.lo, -1.0), min(spec.hi, 1.0)
        noise = lo + (hi - lo) * (0.5 + 0.05 * np.clip(rng.standard_normal(POINTS), -8, 8))
        more.append(Series(spec.name, Curve(steps, noise), source_key=spec.name))
    return replace(log, series=(*log.series, *more))


def main() -> None:
    """Print the time per algorithm, of all rules and of the slowest five."""
    rules = all_rules()
    print(f"{len(rules)} rules, {SERIES} series x {POINTS:,} points, budget {BUDGET_S} s on one core")
    for algorithm in ("PPO", "SAC", "GRPO"):
        log = large_run(algorithm)
        began = time.process_time()
        outcomes = run_rules(log, rules)
        took = time.process_time() - began
        looked = sum(o.status in ("fired", "clear") for o in outcomes)
        alone = sorted(((time_of(log, rule), rule.name) for rule in rules), reverse=True)
        print(f"{algorithm}: {took:.2f} s ({took / BUDGET_S:.0%} of the budget), {looked} rules looked; slowest alone:")
        print("   " + ", ".join(f"{name} {1000 * seconds:.0f} ms" for seconds, name in alone[:5]))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def time_of(log: RunLog, rule: Rule) -> float:
    """CPU seconds of one rule alone, cutting the views included."""
    began = time.process_time()
    run_rules(log, [rule])
    return time.process_time() - began


if __name__ == "__main__":
    main()
