"""The reference trainer of MM-RKHS in the ninth live campaign: its task, its faults, and when they begin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import ninth_worlds
from eighth_doses import earlier
from ninth_doses import dose_of
from ninth_networks import OF_NETWORKS
from ninth_pieces import Pieces
from ninth_rollouts import OF_ADVANTAGES, half_written, log_probs_lost
from torch import nn
from worlds import Truth

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig

SUBJECTS: dict[str, tuple[MMRKHSConfig, str, int, int]] = {
    "mmrkhs_plates": (MMRKHSConfig(gamma=0.97, actor_lr=2e-3), "Plates", 22_528, 30),
}
"""Settings, environment, environment steps, episodes that a return is averaged over."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    config = SUBJECTS[subject][0]
    return "MM-RKHS", {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def built(subject: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return the trainer of `subject`."""
    config, name, _, _ = SUBJECTS[subject]
    trainer: Any = MMRKHS(ninth_worlds.maker(name, subject, truth, seed, world), seed=seed, config=config)
    net, old = trainer.actor.net, trainer.old_actor.net
    both, critics = nn.ModuleList([net, old]), list(trainer.critic.parameters())
    trainer.pieces = Pieces([trainer.optimiser], both, net[-1], critics, copies=[old[-1]])
    trainer.collect = trainer.pieces.play(trainer.collect)
    return trainer


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run, moved; `truth` hears what really happened."""
    trainer, total = built(subject, seed, world, truth), SUBJECTS[subject][2]
    log = log_to(monitor, trainer)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        log(metrics, step)
        if math.isnan(truth.began) and step >= earlier(share) * total:
            truth.began = float(step)
            begin(trainer, subject, fault, truth)

    trainer.learn(total, on_row)


def begin(trainer: Any, subject: str, fault: str, truth: Truth) -> None:
    """Switch a fault on."""
    if fault in ninth_worlds.FAULTS:
        truth.fault = fault
    elif fault in ("log-probs-lost", "half-written"):
        usual = trainer.collect
        change = log_probs_lost("log_prob") if fault == "log-probs-lost" else half_written("obs", "action")
        trainer.collect = lambda: change(usual())
    elif fault in OF_ADVANTAGES:
        credited, turn = trainer.advantages, OF_ADVANTAGES[fault]
        trainer.advantages = lambda rollout: turn(credited(rollout))
    elif fault:
        OF_NETWORKS[fault](trainer.pieces, dose_of(fault, subject))
