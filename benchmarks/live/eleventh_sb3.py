"""Stable-Baselines3 in the eleventh live campaign: trainers and tasks; the rest is the tenth list's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import eleventh_tasks
import tenth_sb3
from eleventh_stand_in import standing_in
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.callbacks import BaseCallback
from worlds import Truth

from firstbreak.monitor.world import World

assert eleventh_tasks.OWN  # importing it makes the tasks known to the tenth list's worlds
SUBJECTS: dict[str, tuple[Any, dict[str, Any], str, bool, int, int, int]] = {
    "sb3_ppo_ferry": (
        PPO,
        {
            "n_steps": 80, "batch_size": 100, "n_epochs": 6, "learning_rate": 2e-3, "gae_lambda": 0.92, "gamma": 0.97,
            "ent_coef": 0.004, "policy_kwargs": {"net_arch": [40, 40]},
        },
        "Ferry", False, 5, 20_000, 25,
    ),
    "sb3_a2c_locks": (
        A2C,
        {
            "n_steps": 8, "learning_rate": 1.2e-3, "gamma": 0.92, "gae_lambda": 0.95, "ent_coef": 0.002,
            "policy_kwargs": {"net_arch": [56, 56]},
        },
        "Locks", True, 8, 24_000, 40,
    ),
    "sb3_dqn_ferry": (
        DQN,
        {
            "learning_rate": 1e-3, "batch_size": 64, "learning_starts": 500, "target_update_interval": 250,
            "train_freq": 2, "exploration_fraction": 0.2, "exploration_final_eps": 0.04, "gamma": 0.96,
            "policy_kwargs": {"net_arch": [80, 80]},
        },
        "Ferry", False, 1, 8_000, 10,
    ),
    "sb3_sac_reacher": (
        SAC,
        {
            "learning_rate": 2e-3, "learning_starts": 200, "batch_size": 80, "gamma": 0.9, "tau": 0.02,
            "policy_kwargs": {"net_arch": [56, 56]},
        },
        "Reacher", False, 1, 2_400, 6,
    ),
}  # fmt: skip
"""Class, settings, task, whether it is normalised, copies, environment steps, episodes that a return is averaged
over."""


def train(
    subject: str, fault: str, seed: int, share: float, guard: Callable[[], BaseCallback], world: World, truth: Truth
) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    with standing_in(tenth_sb3, SUBJECTS=SUBJECTS):
        tenth_sb3.train(subject, fault, seed, share, guard, world, truth)
