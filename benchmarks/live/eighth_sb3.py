"""Stable-Baselines3 in the eighth live campaign: trainers, tasks, and when its faults begin."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import eighth_worlds
from eighth_doses import dose_of, earlier
from stable_baselines3 import DQN, PPO, SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.vec_env import DummyVecEnv
from worlds import Truth

from firstbreak.monitor.world import World

SMALL = {"net_arch": [64, 64]}
SUBJECTS: dict[str, tuple[Any, dict[str, Any], str, int, int, int]] = {
    "sb3_ppo_buoy": (
        PPO,
        {
            "n_steps": 64, "batch_size": 128, "n_epochs": 8, "learning_rate": 2e-3, "gae_lambda": 0.9, "gamma": 0.95,
            "ent_coef": 0.001,
        },
        "Buoy", 8, 18_000, 30,
    ),
    "sb3_dqn_counters": (
        DQN,
        {
            "learning_rate": 1e-3, "batch_size": 64, "learning_starts": 500, "target_update_interval": 250,
            "train_freq": 3, "exploration_fraction": 0.2, "exploration_final_eps": 0.04, "gamma": 0.97,
            "policy_kwargs": SMALL,
        },
        "Counters", 1, 7_000, 12,
    ),
    "sb3_sac_buoy": (
        SAC,
        {
            "learning_rate": 2e-3, "learning_starts": 200, "batch_size": 64, "policy_kwargs": SMALL, "gamma": 0.95,
            "tau": 0.01,
        },
        "Buoy", 1, 2_000, 6,
    ),
}  # fmt: skip
"""Class, settings, environment, copies, environment steps, episodes that a return is averaged over."""


class Switch(BaseCallback):
    """Switches the fault on when its time has come; what `each` holds is called at every step from then on."""

    def __init__(self, subject: str, truth: Truth, fault: str, share: float) -> None:
        super().__init__()
        self.subject, self.truth, self.fault = subject, truth, fault
        self.at = earlier(share) * SUBJECTS[subject][4]
        self.each: list[Callable[[], None]] = []

    def _on_step(self) -> bool:
        if math.isnan(self.truth.began) and self.num_timesteps >= self.at:
            self.truth.began = float(self.num_timesteps)
            self.begin()
        for goes_on in self.each:
            goes_on()
        return True

    def begin(self) -> None:
        """Switch the fault on."""
        from eighth_sb3_plants import PLANTS

        if self.fault in eighth_worlds.FAULTS:
            self.truth.fault = self.fault
        elif self.fault:
            PLANTS[self.fault](self, dose_of(self.fault, self.subject))


def train(
    subject: str, fault: str, seed: int, share: float, guard: Callable[[], BaseCallback], world: World, truth: Truth
) -> None:
    """Train once; the fault comes after `share` of the run, moved; `truth` hears what really happened."""
    model = built(subject, seed, world, truth)
    model.learn(SUBJECTS[subject][4], callback=[guard(), Switch(subject, truth, fault, share)], log_interval=1)


def built(subject: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return a trainer of `subject`."""
    make, settings, name, copies, _, _ = SUBJECTS[subject]
    factory = eighth_worlds.maker(name, subject, truth, seed, world)
    env = DummyVecEnv([lambda: Statistics(factory())] * copies)
    # Copied: SAC writes into its `policy_kwargs`.
    model = make("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **deepcopy(settings))
    model.first_weights = {name: weight.clone() for name, weight in model.policy.state_dict().items()}
    return model
