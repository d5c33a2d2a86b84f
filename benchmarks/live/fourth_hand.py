"""Loops written by hand in the fourth live campaign: tasks, settings, and the faults planted in them.

Their monitor is that of three lines. The copies of `hand_ppo_crane` are `watched` besides; those of the other are not.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import fourth_worlds
import torch
from fourth_loops import Clipped, Loop, Settings, without_copies
from fourth_weights import gradients_kept, transposed
from worlds import Truth

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World

LATE = 40
"""Updates by which who plays is behind who learns."""
LEFT = 1
"""Copies that still answer."""
SUBJECTS: dict[str, tuple[type[Loop], Settings, str, str, int, int]] = {
    "hand_a2c_lanes": (Loop, Settings(learning_rate=2e-3, num_steps=16), "A2C", "Lanes", 60_000, 20),
    "hand_ppo_crane": (
        Clipped, Settings(learning_rate=1e-3, num_steps=64, update_epochs=6, num_minibatches=4, ent_coef=0.0), "PPO",
        "Crane", 60_000, 20,
    ),
}  # fmt: skip
"""Class, settings, algorithm, environment, environment steps, episodes that a return is averaged over."""
WATCHED = ("hand_ppo_crane",)


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, settings, algorithm, *_ = SUBJECTS[subject]
    return algorithm, dict(vars(settings))


def built(subject: str, seed: int, world: World | None, truth: Truth) -> Loop:
    """Return the loop of `subject`."""
    make, settings, _, name, total, _ = SUBJECTS[subject]
    seen_by = world if subject in WATCHED else None
    return make(fourth_worlds.maker(name, truth, total, seen_by), seed, settings)


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World | None, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    loop, total = built(subject, seed, world, truth), SUBJECTS[subject][4]

    def after(step: int) -> None:
        if math.isnan(truth.began) and step >= share * total:
            truth.began = float(step)
            if fault in fourth_worlds.FAULTS:
                truth.fault = fault
            elif fault:
                PLANTS[fault](loop)

    loop.learn(total, monitor, after)


def log_prob_other_action(loop: Loop) -> None:
    """The log-probability in the loss is that of an action that is drawn anew."""
    usual = loop.log_prob

    def log_prob(obs: Any, action: Any) -> Any:
        del action
        with torch.no_grad():
            other = loop.actor(obs).sample()
        return usual(obs, other)

    loop.log_prob = log_prob


def targets_transposed(loop: Loop) -> None:
    """What the critic is to say is flattened in another order than what it sees."""
    usual = loop.targets

    def targets(rollout: Any) -> Any:
        advantage, target = usual(rollout)
        return advantage, transposed(target)

    loop.targets = targets


def actors_late(loop: Loop) -> None:
    """Who plays is always the policy of `LATE` updates before."""
    kept: deque[Any] = deque(maxlen=LATE + 1)

    def acting() -> Any:
        kept.append(deepcopy(loop.actor))
        return kept[0]

    loop.acting = acting


PLANTS: dict[str, Callable[[Loop], None]] = {
    "log-prob-other-action": log_prob_other_action,
    "targets-transposed": targets_transposed,
    "actors-late": actors_late,
    "gradients-kept": lambda loop: gradients_kept(loop.optimiser),
    "copies-lost": lambda loop: without_copies(loop, LEFT),
}
