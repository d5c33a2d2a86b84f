"""The reference trainers in the fourth live campaign: tasks, and the faults planted in them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import fourth_worlds
from fourth_weights import bit_flips, gradients_kept, transposed
from worlds import Truth

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig

SUBJECTS: dict[str, tuple[Any, Any, str, str, int, int]] = {
    "ppo_stock": (PPO, PPOConfig(learning_rate=1e-3, gamma=0.9), "PPO", "Stock", 40_000, 20),
    "mmrkhs_lanes": (MMRKHS, MMRKHSConfig(gamma=0.95), "MM-RKHS", "Lanes", 50_000, 20),
}
"""Class, settings, algorithm, environment, environment steps, episodes that a return is averaged over."""
LATE = 10
"""Updates by which who plays is behind who learns."""
LAMBDA = 1.3
"""Of generalised advantage estimation: with its discount, what comes later weighs more."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, config, algorithm, *_ = SUBJECTS[subject]
    return algorithm, {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def built(subject: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return the trainer of `subject`."""
    make, config, _, name, total, _ = SUBJECTS[subject]
    return make(fourth_worlds.maker(name, truth, total, world), seed=seed, config=config)


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    trainer, total = built(subject, seed, world, truth), SUBJECTS[subject][4]
    log = log_to(monitor, trainer)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        log(metrics, step)
        if math.isnan(truth.began) and step >= share * total:
            truth.began = float(step)
            if fault in fourth_worlds.FAULTS:
                truth.fault = fault
            elif fault:
                PLANTS[fault](trainer)

    trainer.learn(total, on_row)


def targets_transposed(trainer: Any) -> None:
    """What the critic is to say is flattened in another order than what it sees."""
    usual = trainer.advantages

    def advantages(rollout: Any) -> Any:
        found = usual(rollout)
        found["value_target"] = transposed(found["value_target"])
        return found

    trainer.advantages = advantages


def trace_diverges(trainer: Any) -> None:
    trainer.config = replace(trainer.config, gae_lambda=LAMBDA)


def actors_late(trainer: Any) -> None:
    """Who plays is always the policy of `LATE` updates before; the log-probabilities are its own."""
    usual = trainer.collect
    kept: deque[Any] = deque(maxlen=LATE + 1)

    def collect() -> Any:
        learner = trainer.actor
        kept.append(deepcopy(learner))
        trainer.actor = kept[0]
        rollout = usual()
        trainer.actor = learner
        return rollout

    trainer.collect = collect


def log_of_zero(trainer: Any) -> None:
    """The probabilities that a rollout is kept with have one decimal; their logarithm is taken as it comes."""
    usual = trainer.collect

    def collect() -> Any:
        rollout = usual()
        rollout["log_prob"] = rollout["log_prob"].exp().round(decimals=1).log()
        return rollout

    trainer.collect = collect


PLANTS: dict[str, Callable[[Any], None]] = {
    "targets-transposed": targets_transposed,
    "trace-diverges": trace_diverges,
    "actors-late": actors_late,
    "log-of-zero": log_of_zero,
    "gradients-kept": lambda trainer: gradients_kept(trainer.optimiser),
    "bit-flips": lambda trainer: bit_flips(trainer.optimiser),
}
