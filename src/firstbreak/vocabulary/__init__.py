"""The vocabulary: canonical metrics, algorithms and their traits, and what each framework's keys mean.

`metrics.toml` is the canonical table, `algorithms.toml` the algorithms, `config.toml` the configuration keys,
`aliases.toml` words that name a quantity plainly, `standard_tasks.toml` what standard tasks can pay and
`random_play.toml` what random play earns in them, `names/<framework>.toml` one file a framework. To add a framework,
add one file to `names/`. Imports only `firstbreak.errors`.
"""

from __future__ import annotations

from ._algorithms import TRAITS, Algorithm, algorithm_named, algorithms, can_log, traits_of
from ._alias import guess
from ._config import NAMED_BY_RUN, WRAPPED_IN, canonical_config, config_keys, named_in
from ._derived import Derived
from ._mapping import MappedKey, apply_transform, map_keys, usable
from ._metrics import MetricSpec, metric, metrics, vocabulary_version
from ._names import Framework, framework, framework_names
from ._recognise import Recognition, recognise, with_algorithm
from ._standard_tasks import RandomPlay, StandardTask, doubt, pay_text, standard_task

__all__ = [
    "NAMED_BY_RUN",
    "TRAITS",
    "WRAPPED_IN",
    "Algorithm",
    "Derived",
    "Framework",
    "MappedKey",
    "MetricSpec",
    "RandomPlay",
    "Recognition",
    "StandardTask",
    "algorithm_named",
    "algorithms",
    "apply_transform",
    "can_log",
    "canonical_config",
    "config_keys",
    "doubt",
    "framework",
    "framework_names",
    "guess",
    "map_keys",
    "metric",
    "metrics",
    "named_in",
    "pay_text",
    "recognise",
    "standard_task",
    "traits_of",
    "usable",
    "vocabulary_version",
    "with_algorithm",
]
