"""The reference trainers in the eighth live campaign: tasks, and when their faults begin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import eighth_worlds
from eighth_doses import dose_of, earlier
from worlds import Truth

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

DQN_FAST = DQNConfig(learning_rate=1e-3, epsilon_frac=0.2, learning_starts=500, gamma=0.97, train_frequency=3)
SAC_FAST = SACConfig(
    hidden_sizes=(64, 64), batch_size=64, alpha_initial=0.1, actor_lr=2e-3, critic_lr=2e-3, learning_starts=200,
    gamma=0.95, alpha_lr=4e-3, log_every_steps=25, tau=0.01,
)  # fmt: skip
SUBJECTS: dict[str, tuple[Any, Any, str, str, int, int]] = {
    "ppo_counters": (PPO, PPOConfig(learning_rate=1e-3, gamma=0.97, anneal_lr=False), "PPO", "Counters", 20_000, 30),
    "dqn_counters": (DQN, DQN_FAST, "DQN", "Counters", 6_000, 12),
    "mmrkhs_counters": (MMRKHS, MMRKHSConfig(gamma=0.97, actor_lr=2e-3), "MM-RKHS", "Counters", 24_000, 30),
    "sac_buoy": (SAC, SAC_FAST, "SAC", "Buoy", 2_000, 6),
}
"""Class, settings, algorithm, environment, environment steps, episodes that a return is averaged over."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, config, algorithm, *_ = SUBJECTS[subject]
    return algorithm, {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def built(subject: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return the trainer of `subject`."""
    make, config, _, name, _, _ = SUBJECTS[subject]
    trainer = make(eighth_worlds.maker(name, subject, truth, seed, world), seed=seed, config=config)
    if hasattr(trainer, "actor"):
        trainer.first_actor = deepcopy(trainer.actor)
    trainer.total = SUBJECTS[subject][4]
    return trainer


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run, moved; `truth` hears what really happened."""
    trainer, total = built(subject, seed, world, truth), SUBJECTS[subject][4]
    log = log_to(monitor, trainer)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        log(metrics, step)
        if math.isnan(truth.began) and step >= earlier(share) * total:
            truth.began = float(step)
            begin(trainer, subject, fault, truth)

    trainer.learn(total, on_row)


def begin(trainer: Any, subject: str, fault: str, truth: Truth) -> None:
    """Switch a fault on."""
    from eighth_reference_plants import PLANTS

    if fault in eighth_worlds.FAULTS:
        truth.fault = fault
    elif fault:
        PLANTS[fault](trainer, dose_of(fault, subject))
