"""RLlib's `result.json`: one nested result a line; the configuration stands in every line."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from ..errors import InputError
from ..runlog import Recording
from .jsonrows import Row, flatten, read_rows
from .protocol import Options, Reader
from .run_config import flat_config
from .step_axis import recording_of
from .textfile import head

STEPS = (
    "env_runners/num_env_steps_sampled_lifetime",
    "num_env_steps_sampled_lifetime",
    "timesteps_total",
    "training_iteration",
)
LEFT_OUT = frozenset({"config", "hist_stats", "sampler_results", "trial_id", "experiment_id", "hostname", "node_ip"})


def sniff(path: Path) -> float:
    """Say how surely `path` is a `result.json`."""
    if path.suffix not in (".json", ".jsonl") or b'"training_iteration"' not in head(path):
        return 0.0
    return 0.95 if path.name == "result.json" else 0.7


def _prepare(row: Row) -> Row:
    return flatten({key: value for key, value in row.items() if key not in LEFT_OUT})


def read(path: Path, options: Options) -> Recording:
    """Read every result."""
    columns, problems, last = read_rows(path, options, _prepare)
    present = [key for key in STEPS if key in columns.keys]
    if not present:
        raise InputError(f"{path}: no result in it yet.", "Let the run finish its first training iteration.")
    clock = "updates" if present[0] == "training_iteration" else "env_steps"
    found = recording_of(columns, path, READER.name, step=present[0], clock=clock)
    found.framework = "rllib"
    found.problems.extend(problems)
    config = last.get("config")
    if isinstance(config, dict):
        found.config = flat_config(cast(dict[str, Any], config))
    if last.get("done") is True:
        found.ended = "finished"
    return found


READER = Reader("rllib", "RLlib results", sniff, read, rank=60)
