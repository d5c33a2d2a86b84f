"""Changes to a run that must not change what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from firstbreak.runlog import RunLog
from firstbreak.series import Curve
from firstbreak.vocabulary import metrics, traits_of


def subsampled(log: RunLog, every: int = 2) -> RunLog:
    """Keep every `every`-th point of each series (and the last)."""
    return _map_curves(
        log, lambda metric, curve: _pick(curve, np.unique([*range(0, len(curve), every), len(curve) - 1]))
    )


def without(log: RunLog, share: float, seed: int) -> RunLog:
    """Drop a random `share` of the metrics."""
    rng = np.random.default_rng(seed)
    keep = tuple(s for s in log.series if rng.random() >= share)
    return replace(log, series=keep)


def rescaled(log: RunLog, factor: float) -> RunLog:
    """Multiply everything counted in rewards by `factor`, squared errors by its square, as a rescaled task would."""
    q_actor = "q_function" in traits_of(log.algorithm)

    def scale(metric: str, curve: Curve) -> Curve:
        spec = metrics().get(metric)
        unit = spec.unit if spec else ""
        power = {"reward": 1, "reward^2": 2}.get(unit, 0)
        if metric in ("sac/alpha", "policy/loss") and q_actor:
            power = 1
        return Curve(curve.step, curve.value * factor**power, curve.wall)

    config = dict(log.config)
    for key in ("reward_min", "reward_max"):
        if key in config:
            config[key] = float(config[key]) * factor
    return replace(_map_curves(log, scale), config=config)


def _pick(curve: Curve, index: np.ndarray) -> Curve:
    return Curve(curve.step[index], curve.value[index], None if curve.wall is None else curve.wall[index])


def _map_curves(log: RunLog, change) -> RunLog:
    return replace(log, series=tuple(replace(s, curve=change(s.metric, s.curve)) for s in log.series))
