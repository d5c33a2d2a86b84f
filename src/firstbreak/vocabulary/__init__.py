"""The vocabulary: canonical metrics, algorithms and their traits, and what each framework's keys mean.

`metrics.toml` is the canonical table, `algorithms.toml` the algorithms, `names/<framework>.toml` one file a framework.
To add a framework, add one file to `names/`. Imports only `firstbreak.errors`.
"""

from __future__ import annotations

from ._algorithms import TRAITS, Algorithm, algorithm_named, algorithms, traits_of
from ._metrics import MetricSpec, metric, metrics, vocabulary_version

__all__ = [
    "TRAITS",
    "Algorithm",
    "MetricSpec",
    "algorithm_named",
    "algorithms",
    "metric",
    "metrics",
    "traits_of",
    "vocabulary_version",
]
