"""Statistics of few runs: aggregates over tasks and seeds with intervals that say what they hold.

Scores are [runs], [runs, tasks] (the layout of rliable) or one list of runs a task, named or not. Each function has a
slow, obvious twin in `tests/unit/evaluation/statistics`.
"""

from __future__ import annotations

from .aggregates import IQM, MEAN, Aggregate, optimality_gap
from .coverage import RARE, Coverage, measured_coverage
from .improvement import difference, paired_difference, probability_of_improvement
from .intervals import Interval, interval
from .power import detectable, power, runs_needed
from .profiles import Profile, performance_profile
from .runs import SingleSeedError, UnequalRunsError, as_tasks

__all__ = [
    "IQM",
    "MEAN",
    "RARE",
    "Aggregate",
    "Coverage",
    "Interval",
    "Profile",
    "SingleSeedError",
    "UnequalRunsError",
    "as_tasks",
    "detectable",
    "difference",
    "interval",
    "measured_coverage",
    "optimality_gap",
    "paired_difference",
    "performance_profile",
    "power",
    "probability_of_improvement",
    "runs_needed",
]
