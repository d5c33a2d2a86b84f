"""Synthetic runs with a named shape: they feed rule cases, property tests, the docs and the demo.

Shapes are small functions of time; `run` puts them together as a `RunLog`, `like` starts from a healthy run of an
algorithm and replaces what the pathology changes. Everything is seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .departure import against
from .runlog import CRASHED, ClockMap, Event, Phase, RunLog
from .series import Confidence, Curve, Floats, Scope, Series

Shape = Callable[[Floats, np.random.Generator], Floats]
"""Maps time in [0, 1] (shape [n]) and a generator to values [n]."""


def flat(level: float, noise: float = 0.02) -> Shape:
    """A level with Gaussian noise of `noise` times its size (absolute where the level is 0)."""
    spread = noise * (abs(level) or 1.0)
    return lambda t, rng: level + spread * rng.standard_normal(t.size)


def ramp(start: float, end: float, noise: float = 0.02, begin: float = 0.0, until: float = 1.0) -> Shape:
    """From `start` to `end` linearly between times `begin` and `until`, flat outside."""
    spread = noise * max(abs(start), abs(end), 1e-12)

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        return np.interp(t, [begin, until], [start, end]) + spread * rng.standard_normal(t.size)

    return shape


def jump(before: float, after: float, at: float = 0.5, noise: float = 0.02) -> Shape:
    """`before` until time `at`, `after` from then on; noise relative to each level."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        level = np.where(t < at, before, after)
        return level + noise * np.maximum(np.abs(level), 1e-12) * rng.standard_normal(t.size)

    return shape


def geometric(start: float, end: float, noise: float = 0.05, begin: float = 0.0, until: float = 1.0) -> Shape:
    """From `start` to `end` (both positive) along a straight line in the logarithm, log-normal noise."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        line = np.interp(t, [begin, until], [np.log(start), np.log(end)])
        return np.exp(line + noise * rng.standard_normal(t.size))

    return shape


def spikes(level: float, height: float, at: tuple[float, ...], noise: float = 0.02) -> Shape:
    """A level with single points of `height` at the times `at`."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        values = level + noise * max(abs(level), 1e-12) * rng.standard_normal(t.size)
        for moment in at:
            values[int(np.argmin(np.abs(t - moment)))] = height
        return values

    return shape


def walk(level: float, scale: float, rho: float = 0.8) -> Shape:
    """An AR(1) series around `level` with stationary standard deviation `scale` and correlation `rho`."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        shocks = scale * np.sqrt(1 - rho**2) * rng.standard_normal(t.size)
        values = np.empty(t.size)
        state = scale * rng.standard_normal()
        for i, shock in enumerate(shocks):
            state = rho * state + shock
            values[i] = level + state
        return values

    return shape


def constant(value: float) -> Shape:
    """Exactly `value` everywhere (NaN and inf allowed)."""
    return lambda t, rng: np.full(t.size, value)


def after(at: float, then: Shape, first: Shape) -> Shape:
    """`first` before time `at`, `then` from then on (its own clock runs over the whole run)."""
    return lambda t, rng: np.where(t < at, first(t, rng), then(t, rng))


def clipped(shape: Shape, lo: float, hi: float) -> Shape:
    """`shape` kept within [lo, hi]."""
    return lambda t, rng: np.clip(shape(t, rng), lo, hi)


def run(
    metrics: Mapping[str, Shape],
    *,
    n: int = 120,
    algorithm: str = "",
    framework: str = "",
    config: Mapping[str, Any] | None = None,
    clock: str = "updates",
    step: float = 1.0,
    seed: int = 0,
    phases: tuple[Phase, ...] = (),
    confidence: Confidence = Confidence.EXACT,
    custom: Mapping[str, Mapping[str, Any]] | None = None,
) -> RunLog:
    """Build a run of `n` rows, one every `step` of `clock`.

    `metric@component` names a member of a family, `metric#3` what rank 3 logged.
    `custom` holds what a user declared of a metric (see `firstbreak.custom`).
    """
    steps = step * np.arange(1, n + 1, dtype=np.float64)
    time = np.linspace(0.0, 1.0, n)
    series: list[Series] = []
    for index, (name, shape) in enumerate(metrics.items()):
        whole, _, rank = name.partition("#")
        metric, _, component = whole.partition("@")
        values = shape(time, np.random.default_rng([seed, index, len(metrics)]))
        declared = dict((custom or {}).get(name, {}))
        scope = Scope(component=component, rank=rank)
        series.append(Series(metric, Curve(steps, values), scope, name, confidence=confidence, custom=declared))
    return RunLog(
        path="synthetic",
        series=tuple(series),
        config=dict(config or {}),
        framework=framework,
        algorithm=algorithm,
        clock=clock,
        clocks=ClockMap(clock, steps, {"seconds": steps * 0.5}),
        phases=phases,
        state="finished",
    )


HEALTHY: dict[str, dict[str, Shape]] = {
    "PPO": {
        "reward/episode_return_mean": ramp(20, 400, 0.03, until=0.8),
        "episode/length_mean": clipped(ramp(20, 400, 0.03, until=0.8), 1, 500),
        "policy/kl_old": clipped(flat(0.008, 0.25), 1e-4, 1),
        "policy/clip_fraction": clipped(flat(0.1, 0.2), 0, 1),
        "policy/entropy": ramp(0.69, 0.45, 0.02),
        "policy/loss": flat(-0.01, 0.5),
        "critic/explained_variance": clipped(ramp(0.0, 0.9, 0.05, until=0.4), -1, 1),
        "critic/loss": geometric(60, 20, 0.2),
        "optim/grad_norm": clipped(flat(0.6, 0.2), 0.01, 10),
        "optim/lr": constant(3e-4),
        "time/fps": flat(1500, 0.03),
    },
    "SAC": {
        "reward/episode_return_mean": ramp(-1300, -250, 0.04, until=0.8),
        "episode/length_mean": constant(200),
        "critic/loss": geometric(0.5, 1.5, 0.2),
        "critic/q_mean": ramp(-20, -70, 0.05),
        "critic/q2_mean": ramp(-20.4, -70.4, 0.05),
        "policy/loss": ramp(20, 70, 0.05),
        "sac/alpha": geometric(0.8, 0.1, 0.03),
        "sac/alpha_loss": flat(-0.5, 0.3),
        "policy/entropy": ramp(0.7, -0.9, 0.05),
        "optim/actor_grad_norm": clipped(flat(2.0, 0.2), 0.01, 20),
        "optim/critic_grad_norm": clipped(flat(5.0, 0.2), 0.01, 50),
        "optim/lr": constant(3e-4),
        "time/fps": flat(90, 0.03),
    },
    "DQN": {
        "reward/episode_return_mean": ramp(15, 180, 0.04, until=0.9),
        "episode/length_mean": clipped(ramp(15, 180, 0.04, until=0.9), 1, 500),
        "critic/loss": geometric(0.02, 0.2, 0.3),
        "critic/q_mean": ramp(0.5, 60, 0.03),
        "dqn/epsilon": ramp(1.0, 0.05, 0.0, until=0.3),
        "optim/lr": constant(1e-4),
        "time/fps": flat(1500, 0.03),
    },
    "GRPO": {
        "reward/train_mean": ramp(0.1, 0.8, 0.03, until=0.8),
        "reward/train_std": flat(0.35, 0.05),
        "group/zero_std_fraction": clipped(ramp(0.2, 0.35, 0.05), 0, 1),
        "policy/entropy": geometric(1.2, 0.5, 0.03),
        "policy/kl_ref": clipped(ramp(0.0, 0.05, 0.05), 0, 1),
        "policy/clip_fraction": constant(0.0),
        "seq/len_mean": ramp(180, 240, 0.03),
        "seq/truncated_fraction": clipped(flat(0.01, 0.3), 0, 1),
        "optim/grad_norm": clipped(flat(0.3, 0.15), 0.01, 10),
        "optim/loss_total": flat(0.0, 0.01),
        "optim/lr": constant(1e-6),
        "time/step": flat(30, 0.05),
    },
    "RLHF-PPO": {
        "reward/train_mean": ramp(0.2, 2.0, 0.03, until=0.9),
        "policy/kl_ref": clipped(ramp(0.0, 0.08, 0.03), 0, 1),
        "policy/kl_old": clipped(flat(0.004, 0.25), 1e-5, 1),
        "policy/clip_fraction": clipped(flat(0.05, 0.2), 0, 1),
        "policy/entropy": geometric(1.5, 0.9, 0.03),
        "critic/loss": geometric(0.5, 0.1, 0.15),
        "critic/explained_variance": clipped(ramp(-0.1, 0.7, 0.05, until=0.3), -1, 1),
        "seq/len_mean": ramp(120, 140, 0.03),
        "seq/truncated_fraction": clipped(flat(0.01, 0.3), 0, 1),
        "optim/grad_norm": clipped(flat(0.8, 0.15), 0.01, 10),
        "optim/lr": constant(1e-6),
        "time/step": flat(60, 0.05),
    },
    "MM-RKHS": {
        "reward/episode_return_mean": ramp(20, 300, 0.03, until=0.9),
        "policy/kl_old": clipped(flat(0.01, 0.2), 1e-4, 1),
        "policy/mmd": clipped(flat(0.02, 0.2), 0, 2),
        "policy/mmd_coef": constant(1.0),
        "policy/mmd_grad_ratio": clipped(flat(0.4, 0.2), 0, 10),
        "policy/exponent_clip_fraction": clipped(flat(0.02, 0.3), 0, 1),
        "policy/entropy": ramp(1.4, 0.8, 0.02),
        "policy/loss": flat(-0.01, 0.5),
        "critic/explained_variance": clipped(ramp(0.0, 0.85, 0.05, until=0.4), -1, 1),
        "critic/loss": geometric(60, 15, 0.2),
        "optim/grad_norm": clipped(flat(0.6, 0.2), 0.01, 10),
        "optim/lr": constant(3e-4),
        "time/fps": flat(900, 0.03),
    },
}
"""A healthy run per algorithm: levels as in the published logs of good implementations."""
HEALTHY["A2C"] = {k: v for k, v in HEALTHY["PPO"].items() if k not in ("policy/kl_old", "policy/clip_fraction")}


def like(algorithm: str, /, drop: tuple[str, ...] = (), **settings: Any) -> Callable[..., RunLog]:
    """Return a builder: `like("PPO")({...})` is a healthy run of `algorithm` with some metrics replaced or added."""

    def build(changes: Mapping[str, Shape] | None = None) -> RunLog:
        metrics = {k: v for k, v in HEALTHY[algorithm].items() if k not in drop} | dict(changes or {})
        return run(metrics, algorithm=algorithm, **settings)

    return build


def wrapped(**layers: float) -> RunLog:
    """Return a healthy PPO run on Pendulum in a wrapper of one's own, with what the monitor found between the two."""
    between = {"env_id": "Pendulum-v1", "env_wrappers": "Mine", "layers_looked": 300.0}
    return like("PPO", config=between | layers)({})


def died_of(text: str, algorithm: str = "PPO") -> RunLog:
    """Return a healthy run of `algorithm` that ends with an exception; `text` is its type and what the record adds."""
    log = like(algorithm)({})
    return replace(log, state="crashed", events=(Event(CRASHED, log.last_step, text),))


def beside(
    algorithm: str, changes: Mapping[str, Shape] | None = None, *, usual: Mapping[str, Shape] | None = None
) -> RunLog:
    """Return a run of `algorithm` held against five healthy ones of other seeds.

    `usual` are metrics that all six log; `changes` are those of the run in question.
    """
    siblings = [like(algorithm, seed=100 + n)(usual) for n in range(5)]
    return against(like(algorithm)({**(usual or {}), **(changes or {})}), siblings)
