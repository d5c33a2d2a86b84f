"""Settings of a recorded run, for a trainer of a library that would take others in their place.

An experiment on PPO with a rate of 3e-4 says nothing of a run that was made with 0.1. `sb3:PPO` is made for small tasks
(`probes.adapters.sb3`): what the log does not tell is then what the library itself takes. What a trainer of the user's
own takes is not known before it is loaded, and it is taken to be the one that made the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...runlog import RunLog
from ...vocabulary import canonical_config
from ..subject import Subject

FRAMEWORK, PREFIX = "stable_baselines3", "sb3:"
ON_POLICY = ("lr", "gamma", "n_steps", "n_envs", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm")
OFF_POLICY = ("lr", "gamma", "batch_size", "buffer_size", "learning_starts", "tau", "train_freq", "gradient_steps")
TAKEN: Mapping[str, tuple[str, ...]] = {
    "PPO": (*ON_POLICY, "batch_size", "n_epochs", "clip_range", "target_kl"),
    "A2C": ON_POLICY,
    "DQN": (*OFF_POLICY, "n_envs", "target_update_interval", "exploration_fraction", "epsilon_final", "max_grad_norm"),
    "SAC": (*OFF_POLICY, "n_envs", "ent_coef", "target_entropy"),
}
"""Algorithm of Stable-Baselines3 -> canonical names of the settings that its constructor takes as one number."""
KEYWORDS = {"lr": "learning_rate", "epsilon_final": "exploration_final_eps"}
"""Canonical name -> the constructor's, where it is another."""
USUAL: Mapping[str, Mapping[str, Any]] = {
    "PPO": {"learning_rate": 3e-4, "n_steps": 2048, "n_epochs": 10, "n_envs": 1},
    "A2C": {"learning_rate": 7e-4, "n_steps": 5, "gae_lambda": 1.0, "use_rms_prop": True, "n_envs": 1},
    "DQN": {
        "learning_rate": 1e-4, "buffer_size": 1_000_000, "learning_starts": 100, "batch_size": 32, "train_freq": 4,
        "target_update_interval": 10_000, "exploration_fraction": 0.1,
    },
    "SAC": {
        "learning_rate": 3e-4, "buffer_size": 1_000_000, "learning_starts": 100, "batch_size": 256, "tau": 0.005,
        "ent_coef": "auto",
    },
}  # fmt: skip
"""Algorithm -> what Stable-Baselines3 2.9 takes where the probes have settings of their own; `n_envs` is the usual."""
NETWORK: Mapping[str, Any] = {"policy_kwargs": {}}
"""The library's own network in place of the probes' small one."""
RATE = "optim/lr"


def as_the_run(subject: Subject, log: RunLog) -> Subject:
    """Return `subject` with what `log` tells of a library's trainer, its settings and how long it ran.

    The user's own word comes first.
    """
    settings = settings_of_run(log, subject.trainer)
    if not settings:
        return subject
    steps = subject.steps if subject.steps is not None else steps_of_run(log)
    return replace(subject, settings={**settings, **subject.settings}, steps=steps)


def steps_of_run(log: RunLog) -> int | None:
    """Return the environment steps after which the last row was logged; None where the log counts something else."""
    ends = [float(series.step[-1]) for series in log.series if len(series)]
    return int(max(ends)) if ends and log.clock == "env_steps" and max(ends) >= 1 else None


def settings_of_run(log: RunLog, trainer: str) -> dict[str, Any]:
    """Return the settings that `log` tells of, and the library's own for the rest, under the names of its `trainer`.

    {} for any other trainer, and for a run that another one made.
    """
    algorithm = trainer.removeprefix(PREFIX)
    if not trainer.startswith(PREFIX) or log.framework != FRAMEWORK or (log.algorithm or "").upper() != algorithm:
        return {}
    if algorithm not in TAKEN:
        return {}
    told = {**_rate(log), **canonical_config(dict(log.config))}
    known = {KEYWORDS.get(name, name): told[name] for name in TAKEN[algorithm] if _number(told.get(name))}
    return {**USUAL[algorithm], **NETWORK, **known}


def _rate(log: RunLog) -> dict[str, float]:
    """Return the learning rate that was logged, where it stood still."""
    for series in log.series:
        values = series.value[np.isfinite(series.value)]
        if series.metric == RATE and len(values) and np.allclose(values, values[0], rtol=1e-5, atol=0.0):
            return {"lr": float(f"{values[0]:.6g}")}  # logs hold single precision
    return {}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))
