"""The same run told otherwise: other names, other units, fewer points, without one metric. Truth does not change."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from firstbreak.runlog import RunLog
from firstbreak.vocabulary import metrics, traits_of

from .corpus import Run
from .logs import keys_of, load_log

RESCALE = 10.0
"""Factor on all that is counted in rewards."""
Values = tuple[tuple[float, ...], tuple[float, ...]]


def without(run: Run, log: RunLog, names: tuple[str, ...]) -> Run:
    """Return `run` with every key removed that canonical metrics `names` were read from."""
    known = keys_of(log)
    gone = {key for name in names for key in known.get(name, ())}
    return replace(run, keys={key: curve for key, curve in run.keys.items() if key not in gone})


def renamed(run: Run, log: RunLog) -> RunLog:
    """Return the log of `run` under names that say nothing, read with the user's own mapping of them.

    Settings stay. The framework cannot be told from such names, so what only its vocabulary knows is lost on purpose.
    """
    meaning = {key: metric for metric, keys in keys_of(log).items() for key in keys}
    plain = {key: f"series_{place}" for place, key in enumerate(sorted(run.keys)) if key in meaning}
    other = replace(
        run,
        framework="hand-written",
        keys={plain[key]: curve for key, curve in run.keys.items() if key in plain},
    )
    scoped = {s.source_key: f"{s.metric}@{s.scope.component}" for s in log.series if s.scope.component}
    return load_log(other, {plain[key]: scoped.get(key, meaning[key]) for key in plain})


def rescaled(run: Run, log: RunLog, factor: float = RESCALE) -> Run:
    """Return `run` as a task with rewards `factor` times as large would log it: squared errors grow by its square."""
    power = powers(log)
    keys = {key: _scaled(curve, factor ** power.get(key, 0)) for key, curve in run.keys.items()}
    config = dict(run.config)
    for name in ("reward_min", "reward_max"):
        if isinstance(config.get(name), (int, float)):
            config[name] = float(config[name]) * factor
    return replace(run, keys=keys, config=config)


def powers(log: RunLog) -> dict[str, int]:
    """Return for each source key the power of the reward's unit that its metric is counted in."""
    of_q = "q_function" in traits_of(log.algorithm)
    found: dict[str, int] = {}
    for series in log.series:
        spec = metrics().get(series.metric)
        power = {"reward": 1, "reward^2": 2}.get(spec.unit if spec else "", 0)
        found[series.source_key] = 1 if series.metric in ("sac/alpha", "policy/loss") and of_q else power
    return found


def _scaled(curve: Values, factor: float) -> Values:
    return curve if factor == 1 else (curve[0], tuple(value * factor for value in curve[1]))


def subsampled(run: Run, every: int = 2) -> Run:
    """Return `run` with every `every`-th point of each metric, and its last.

    By metric, not by row: an evaluation every tenth row would be lost, or kept, as a whole.
    """
    return replace(run, keys={key: _thinned(curve, every) for key, curve in run.keys.items()})


def _thinned(curve: Values, every: int) -> Values:
    """Thin out numbers and gaps each by themselves: tables hold NaN where an evaluation was not made."""
    steps, values = curve
    numbers = [place for place, value in enumerate(values) if math.isfinite(value)]
    gaps = [place for place, value in enumerate(values) if not math.isfinite(value)]
    kept = sorted({*numbers[::every], *numbers[-1:], *gaps[::every], *gaps[-1:]})
    return tuple(steps[place] for place in kept), tuple(values[place] for place in kept)


VARIANTS: Mapping[str, Callable[[Run, RunLog], RunLog]] = {
    "renamed": renamed,
    "rescaled": lambda run, log: load_log(rescaled(run, log)),
    "subsampled": lambda run, log: load_log(subsampled(run)),
}
"""Changes that must not change the answer."""
