"""The reference trainers in the tenth live campaign: tasks, and when a known fault begins in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import eighth_reference_plants
import fifth_reference
import fourth_reference
import ninth_reference
import seventh_reference_plants
import seventh_worlds
import sixth_reference
import tenth_worlds
import third_reference
import unseen_reference
from fifth_doses import doses
from ninth_pieces import Pieces
from tenth_origins import dose_of, first_list, list_of
from torch import nn
from worlds import Truth

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

PPO_RAFT = PPOConfig(
    learning_rate=1.5e-3, gamma=0.95, num_envs=6, num_steps=96, num_minibatches=6, hidden_sizes=(48, 48),
    gae_lambda=0.9,
)  # fmt: skip
DQN_RAFT = DQNConfig(
    learning_rate=1.5e-3, epsilon_frac=0.25, learning_starts=400, gamma=0.95, train_frequency=2, batch_size=48,
    hidden_sizes=(96, 48),
)  # fmt: skip
SAC_KILN = SACConfig(
    hidden_sizes=(48, 48), batch_size=96, alpha_initial=0.15, actor_lr=1.5e-3, critic_lr=1.5e-3, learning_starts=250,
    gamma=0.94, alpha_lr=3e-3, log_every_steps=25, tau=0.015,
)  # fmt: skip
MMRKHS_RAFT = MMRKHSConfig(gamma=0.95, actor_lr=3e-3, num_envs=6, rollout_steps=96, hidden_sizes=(48, 48))
SUBJECTS: dict[str, tuple[Any, Any, str, str, bool, int, int]] = {
    "ppo_raft": (PPO, PPO_RAFT, "PPO", "Raft", True, 20_000, 30),
    "dqn_raft": (DQN, DQN_RAFT, "DQN", "Raft", False, 7_000, 14),
    "mmrkhs_raft": (MMRKHS, MMRKHS_RAFT, "MM-RKHS", "Raft", False, 24_000, 30),
    "sac_kiln": (SAC, SAC_KILN, "SAC", "Kiln", False, 2_200, 7),
}
"""Class, settings, algorithm, task, whether it is normalised, environment steps, episodes that a return is averaged
over."""
FIRST = first_list("reference")
"""The first list's reference trainers."""
EARLY = 0.1
"""Share of the run after which weights are kept for `checkpoint-old`."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, config, algorithm, *_ = SUBJECTS[subject]
    return algorithm, {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def built(subject: str, fault: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return the trainer of `subject`, in the world of the list that `fault` is of."""
    make, config, _, name, scaled, total, _ = SUBJECTS[subject]
    trainer = make(
        tenth_worlds.maker(name, subject, fault, truth, seed, total, world, scaled), seed=seed, config=config
    )
    if hasattr(trainer, "actor"):
        trainer.first_actor = deepcopy(trainer.actor)
    trainer.total = total
    trainer.pieces = pieces_of(trainer)
    trainer.collect = trainer.pieces.play(trainer.collect)
    return trainer


def pieces_of(trainer: Any) -> Pieces:
    """Return what faults of networks reach into of a trainer."""
    if isinstance(trainer, DQN):
        net = trainer.q_network.net
        return Pieces([trainer.optimiser], net, net[-1], list(trainer.q_network.parameters()))
    net = trainer.actor.net
    if isinstance(trainer, SAC):
        critics = [weight for critic in trainer.critics for weight in critic.parameters()]
        return Pieces(FIRST.optimisers(trainer), net, net[-1], critics)
    critics = list(trainer.critic.parameters())
    if isinstance(trainer, MMRKHS):
        old = trainer.old_actor.net
        return Pieces([trainer.optimiser], nn.ModuleList([net, old]), net[-1], critics, copies=[old[-1]])
    return Pieces([trainer.optimiser], net, net[-1], critics)


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    trainer, total = built(subject, fault, seed, world, truth), SUBJECTS[subject][5]
    log = log_to(monitor, trainer)
    planting = third_reference.Planting(trainer, math.nan, total)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        log(metrics, step)
        if not planting.kept and step >= EARLY * total:
            planting.kept = {k: deepcopy(v.state_dict()) for k, v in third_reference.networks(trainer).items()}
        if math.isnan(truth.began) and step >= share * total:
            truth.began = planting.began = float(step)
            if fault:
                begin(planting, subject, fault, truth)

    trainer.learn(total, on_row)


def begin(planting: Any, subject: str, fault: str, truth: Truth) -> None:
    """Switch a fault on, as the list that it is of does."""
    origin, trainer = list_of(fault), planting.trainer
    if tenth_worlds.in_the_world(fault):
        truth.fault = fault
    elif origin == "faults":
        FIRST.plant(trainer, fault)
    elif origin == "third":
        third_reference.PLANTS[fault](planting)
    elif origin == "fifth":
        fifth_reference.PLANTS[fault](trainer, doses(truth, planting.total))
    elif origin == "ninth":
        ninth_reference.begin(trainer, subject, fault, truth)
    elif origin in DOSED:
        if fault in seventh_worlds.ANEW:
            truth.fault = fault
        DOSED[origin][fault](trainer, dose_of(fault))
    else:
        OF_TRAINER[origin][fault](trainer)


OF_TRAINER: dict[str, Any] = {
    "unseen": unseen_reference.PLANTS,
    "fourth": fourth_reference.PLANTS,
    "sixth": sixth_reference.PLANTS,
}
"""What is handed the trainer."""
DOSED: dict[str, Any] = {"seventh": seventh_reference_plants.PLANTS, "eighth": eighth_reference_plants.PLANTS}
"""What is handed a dose, too."""
