"""The reference trainers in the second live campaign: tasks, and the faults planted in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
import unseen_worlds
from worlds import Truth

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

SAC_FAST = SACConfig(hidden_sizes=(64, 64), batch_size=128, alpha_initial=0.2, actor_lr=1e-3, learning_starts=500)
SUBJECTS: dict[str, tuple[Any, Any, str, str, int, int]] = {
    "ppo_reach": (PPO, PPOConfig(learning_rate=1e-3), "PPO", "Reach", 80_000, 20),
    "mmrkhs_acrobot": (MMRKHS, MMRKHSConfig(), "MM-RKHS", "Acrobot-v1", 80_000, 20),
    "sac_reach": (SAC, SAC_FAST, "SAC", "Reach", 5_000, 10),
}
"""Class, settings, algorithm, environment, environment steps, episodes that a return is averaged over."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, config, algorithm, *_ = SUBJECTS[subject]
    return algorithm, {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    make, config, _, name, total, _ = SUBJECTS[subject]
    trainer = make(unseen_worlds.maker(name, truth, seed, world), seed=seed, config=config)
    log = log_to(monitor, trainer)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        log(metrics, step)
        if math.isnan(truth.began) and step >= share * total:
            truth.began = float(step)
            if fault in unseen_worlds.FAULTS:
                truth.fault = fault
            elif fault:
                PLANTS[fault](trainer)

    trainer.learn(total, on_row)


def loss_with(*names: str) -> Callable[[Any], None]:
    """Return what turns the sign of the terms `names` of a trainer's loss."""

    def plant(trainer: Any) -> None:
        usual = trainer.loss

        def loss(minibatch: Any) -> dict[str, Any]:
            return {name: -term if name in names else term for name, term in usual(minibatch).items()}

        trainer.loss = loss

    return plant


def backwards(trainer: Any) -> None:
    usual = trainer.advantages

    def advantages(rollout: Any) -> Any:
        found = usual(rollout)
        for name in ("advantage", "value_target"):
            found[name] = found[name].flip(1)
        return found

    trainer.advantages = advantages


def majoriser_step(trainer: Any) -> None:
    old = trainer.config
    trainer.config = replace(old, eta_initial=1000 * old.eta_initial, eta_ceiling=1000 * old.eta_ceiling)


@torch.no_grad()
def critic_dead(trainer: Any) -> None:
    for critic in trainer.critics:
        next(m for m in critic.modules() if isinstance(m, torch.nn.Linear)).bias.fill_(-10.0)


def aliased(trainer: Any) -> None:
    usual = trainer.buffer.extend

    def extend(rows: Any) -> None:
        rows = rows.clone()
        rows["obs"] = rows["next_obs"].clone()
        usual(rows)

    trainer.buffer.extend = extend


def target_entropy_sign(trainer: Any) -> None:
    trainer.target_entropy = -trainer.target_entropy


PLANTS: dict[str, Callable[[Any], None]] = {
    "loss-flipped": loss_with("policy"),
    "majoriser-sign": loss_with("mmd", "kl"),
    "returns-backwards": backwards,
    "majoriser-step": majoriser_step,
    "critic-dead": critic_dead,
    "observations-aliased": aliased,
    "target-entropy-sign": target_entropy_sign,
}
