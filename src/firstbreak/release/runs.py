"""Reads the runs of a release: what each scored, under which protocol, with which seed, and how it ended."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..api import diagnose_runs
from ..context import store
from ..context.contents import Context
from ..diagnosis import Diagnosis
from ..errors import InputError
from ..evaluation.protocol import protocol as protocols
from ..runlog import CRASHED, RunLog
from ..series import Floats, Series
from .alike import contradicted
from .evidence import UNKNOWN, Run

EVALUATIONS = (
    "reward/eval_return_mean",
    "reward/eval_return",
    "reward/eval_mean",
    "reward/eval_pass_at_k",
    "reward/true_objective",
)
"""What counts as a score, first first: measured apart from training, or on the true task."""
REWARDS = (
    "reward/episode_return_mean",
    "reward/train_mean",
    "reward/rollout_mean",
    "reward/final_mean",
    "reward/env_mean",
    "reward/step_mean",
    "reward/episode_return",
)
"""What is trained on, first first."""
PROTOCOL = "protocol.toml"
"""In the folder of a run, or beside the folders of the runs: what `firstbreak eval` reads."""
PREFLIGHT = "preflight.json"
"""In the folder of a run, or beside the folders of the runs: what `firstbreak preflight --format json` writes."""
TENTH = 0.1
"""The share of a run that stands for its beginning, and for its end. Engineering default."""
_EVAL_KEY = re.compile(r"(^|[._/-])(eval|evaluation|val|test)([._/-]|$)", re.IGNORECASE)
_PLANNING = re.compile(r"freq|every|interval|path|dir$|file|log|save|batch_size|num_workers", re.IGNORECASE)
"""Settings of evaluation that say when or where, not how."""


def read_runs(
    paths: Sequence[str | Path], *, metric: str = "", lower: bool = False, problems: list[str] | None = None
) -> tuple[Run, ...]:
    """Read and diagnose every run at `paths`, folders of one or many; names are made unique.

    Args:
        paths: logs, folders of runs, or folders of folders.
        metric: canonical metric that holds the score, where it is not found by itself.
        lower: whether less of it is better.
        problems: hears what could not be read.

    Raises:
        InputError: none of them holds a run.
    """
    found: list[Run] = []
    first: InputError | None = None
    for path in [p for p in paths if Path(p).name not in (PROTOCOL, PREFLIGHT)] or paths:  # runs/* takes them in, too
        try:
            diagnoses = diagnose_runs(path)
        except InputError as error:
            first = first or error
            if problems is not None:
                problems.append(str(error.message))
            continue
        found += [_run(diagnosis, metric, lower) for diagnosis in diagnoses]
    if not found:
        raise first or InputError("No runs were given.", "For example: firstbreak release runs/* --out release")
    return _named(found)


def _run(diagnosis: Diagnosis, metric: str, lower: bool) -> Run:
    log = diagnosis.log
    context = store.find(log.path)
    config = {**(context.config if context else {}), **log.config}
    chosen = _chosen(log, (metric,) if metric else EVALUATIONS)
    step, score = _points(chosen)
    fixed = _fixed(log.path)
    protocol, settings = _protocol(config)
    doubt = contradicted(fixed[1], settings) if fixed else ""
    protocol, settings = fixed or (protocol, settings)
    ended = _ended(log, context)
    return Run(
        name=Path(log.path.partition("#")[0]).name,
        path=log.path,
        diagnosis=diagnosis,
        task=str(config.get("env_id") or config.get("dataset") or config.get("model") or ""),
        algorithm=log.algorithm,
        seed=_seed(context, config),
        protocol=protocol,
        protocol_file=PROTOCOL if fixed else "",
        protocol_settings=settings,
        doubt=doubt,
        context=context,
        metric=chosen.metric if chosen is not None else "",
        step=step,
        score=score,
        noise=_noise(log, config),
        reward=_ends(_chosen(log, REWARDS)),
        crashed=ended in ("crashed", "failed", "killed"),
        ended=ended,
        lower=lower,
    )


def _chosen(log: RunLog, wanted: Sequence[str]) -> Series | None:
    """Return the first metric that was logged; of several scopes the one of the whole run, or the first."""
    for name in wanted:
        scopes = log.scopes(name)
        whole = next((s for s in scopes if not str(s)), None)
        series = log.get(name, whole if whole is not None else scopes[0]) if scopes else None
        if series is not None and np.isfinite(series.value).any():
            return series
    return None


def _points(series: Series | None) -> tuple[Floats, Floats]:
    """Return the steps and mean values [E] of the finite points; evaluations of one step are one."""
    if series is None:
        return np.empty(0), np.empty(0)
    good = np.isfinite(series.value)
    step, place, counts = np.unique(series.step[good], return_inverse=True, return_counts=True)
    return step, np.bincount(place, weights=series.value[good]) / counts


def _ends(series: Series | None) -> tuple[float, float] | None:
    """Return the mean of the first and of the last tenth of a series, None when there are fewer than four points."""
    step, value = _points(series)
    if step.size < 4:
        return None
    part = max(1, math.ceil(TENTH * step.size))
    return float(value[:part].mean()), float(value[-part:].mean())


def _ended(log: RunLog, context: Context | None) -> str:
    if any(event.name == CRASHED for event in log.events):
        return "crashed"
    if context is not None and context.ending.status != "running":
        return context.ending.status
    return log.state or (context.ending.status if context else "")


def _seed(context: Context | None, config: Mapping[str, Any]) -> str:
    """Return the seed of the training: of the record, else of the configuration."""
    seeds = dict(context.seeds) if context else {}
    best = sorted(seeds, key=lambda where: ("PYTHONHASHSEED" in where, "eval" in where, where))
    value = seeds[best[0]] if best and "PYTHONHASHSEED" not in best[0] else config.get("seed")
    return "" if value is None or isinstance(value, bool) else str(value)


def _fixed(path: str) -> tuple[str, dict[str, Any]] | None:
    """Return the hash and the fields of the protocol file beside a log or in the folder above it, if there is one."""
    place = Path(path.partition("#")[0])
    folder = place if place.is_dir() else place.parent
    for file in (folder / PROTOCOL, folder.parent / PROTOCOL):
        if file.is_file():
            found = protocols.read(file)
            return found.hash, found.flat
    return None


def _noise(log: RunLog, config: Mapping[str, Any]) -> float | None:
    """Return the standard error of one evaluation: the median spread of its episodes over the root of their number."""
    spread, episodes = log.get("reward/eval_return_std"), config.get("eval_episodes")
    if spread is None or not isinstance(episodes, int) or episodes < 2:
        return None
    finite = spread.value[np.isfinite(spread.value)]
    return float(np.median(finite)) / math.sqrt(episodes - 1) if finite.size else None  # the spread was taken over n


def _protocol(config: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a digest of the settings that say how evaluation is done, and the settings."""
    settings = {
        key: value
        for key, value in sorted(config.items())
        if (_EVAL_KEY.search(key) or key in ("eval_episodes", "eval_deterministic")) and not _PLANNING.search(key)
    }
    if not settings:
        return UNKNOWN, {}
    text = json.dumps(settings, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12], settings


def _named(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Give runs of one name the folders before it, so that names tell them apart; the same run twice counts once."""
    from dataclasses import replace

    unique = list({run.path: run for run in runs}.values())
    found: list[Run] = []
    for run in unique:
        alike = sum(other.name == run.name for other in unique)
        parts = Path(run.path).parts
        name = run.name if alike == 1 else "-".join(parts[-2:]).replace("#", "-")
        found.append(replace(run, name=name if name not in {f.name for f in found} else f"{name}-{len(found)}"))
    return tuple(found)
