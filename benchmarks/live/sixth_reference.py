"""The reference trainers in the sixth live campaign: tasks, and the faults planted in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import sixth_worlds
import torch
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
    "ppo_descend": (PPO, PPOConfig(learning_rate=1e-3, gamma=0.98, anneal_lr=False), "PPO", "Descend", 24_000, 30),
    "dqn_descend": (DQN, DQN_FAST, "DQN", "Descend", 10_000, 20),
    "mmrkhs_descend": (MMRKHS, MMRKHSConfig(gamma=0.98), "MM-RKHS", "Descend", 32_000, 30),
    "sac_arm": (SAC, SAC_FAST, "SAC", "Arm", 2_800, 20),
}
"""Class, settings, algorithm, environment, environment steps, episodes that a return is averaged over."""
SHORT_SIGHTED = 0.2
"""A discount."""
HALF_RANDOM = 0.5
"""The share of random actions that exploration ends at."""
UNCRITICAL = 1e-12
"""Weight of the critic's loss: too small for Adam to move a weight. MM-RKHS divides by it, so it is not nothing."""
SWIFT = 0.9
"""By how much of the way targets follow, at every step."""
STEP = 50.0
"""What the majoriser's step size is multiplied by."""
FEW = 200
"""Rows, the newest, that replay holds."""
SERVED = 15
"""How often a rollout is served."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, config, algorithm, *_ = SUBJECTS[subject]
    return algorithm, {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def built(subject: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return the trainer of `subject`."""
    make, config, _, name, _, _ = SUBJECTS[subject]
    return make(sixth_worlds.maker(name, truth, seed, world), seed=seed, config=config)


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
            if fault in sixth_worlds.FAULTS:
                truth.fault = fault
            elif fault:
                PLANTS[fault](trainer)

    trainer.learn(total, on_row)


def with_settings(**changed: Any) -> Callable[[Any], None]:
    """Return what sets settings of a trainer anew."""

    def plant(trainer: Any) -> None:
        trainer.config = replace(trainer.config, **changed)

    return plant


def critic_ignored(trainer: Any) -> None:
    trainer.config = replace(trainer.config, value_coef=UNCRITICAL if isinstance(trainer, MMRKHS) else 0.0)


def epsilon_stays_high(trainer: Any) -> None:
    """The schedule goes on as it was, and ends elsewhere."""
    trainer.config = replace(trainer.config, epsilon_end=HALF_RANDOM)


def ratio_unclipped_above(trainer: Any) -> None:
    """The ratio is clipped from below only: what is gained by going further up has a gradient for ever."""
    usual = trainer.loss

    def loss(minibatch: Any) -> dict[str, Any]:
        ratio = (trainer.log_prob(minibatch) - minibatch["log_prob"]).exp()
        advantage = trainer.normalised(minibatch["advantage"])
        gain = torch.minimum(ratio * advantage, ratio.clamp(min=1 - trainer.config.clip_range) * advantage)
        return {**usual(minibatch), "policy": -gain.mean()}

    trainer.loss = loss


def majoriser_far(trainer: Any) -> None:
    """The weight of the KL term is a fiftieth of what the theory says."""
    usual = trainer.set_weights

    def set_weights(rollout: Any) -> None:
        usual(rollout)
        trainer.eta *= STEP

    trainer.set_weights = set_weights


def log_of_probability(trainer: Any) -> None:
    """KL from probabilities in half precision, of which small ones are zero, and their logarithm without a floor."""
    usual = trainer.loss

    def loss(minibatch: Any) -> dict[str, Any]:
        new = trainer.actor.distribution(minibatch["obs"]).probs.half().float()
        with torch.no_grad():
            old = trainer.old_actor.distribution(minibatch["obs"]).probs.half().float()
        kl = (new * (new.log() - old.log())).sum(-1)
        return {**usual(minibatch), "kl": kl.mean() / trainer.eta}

    trainer.loss = loss


def batch_served_again(trainer: Any) -> None:
    """The queue serves a rollout again and again, and throws away what was collected meanwhile."""
    usual, served = trainer.collect, list[Any]()

    def collect() -> Any:
        fresh = usual()
        if len(served) % SERVED == 0:
            served[:] = [fresh.clone()]
        else:
            served.append(None)
        return served[0].clone()

    trainer.collect = collect


def sampler_frozen(trainer: Any) -> None:
    """Who plays keeps the weights of now."""
    usual, player = trainer.collect, deepcopy(trainer.actor)

    def collect() -> Any:
        learner, trainer.actor = trainer.actor, player
        rows = usual()
        trainer.actor = learner
        return rows

    trainer.collect = collect


def replay_tiny(trainer: Any) -> None:
    def sample() -> Any:
        held = len(trainer.buffer)
        return trainer.buffer[held - 1 - torch.randint(min(FEW, held), (trainer.config.batch_size,))]

    trainer.sample = sample


PLANTS: dict[str, Callable[[Any], None]] = {
    "discount-short": with_settings(gamma=SHORT_SIGHTED),
    "targets-swift": with_settings(tau=SWIFT),
    "critic-ignored": critic_ignored,
    "epsilon-stays-high": epsilon_stays_high,
    "ratio-unclipped-above": ratio_unclipped_above,
    "majoriser-far": majoriser_far,
    "log-of-probability": log_of_probability,
    "batch-served-again": batch_served_again,
    "sampler-frozen": sampler_frozen,
    "replay-tiny": replay_tiny,
}
