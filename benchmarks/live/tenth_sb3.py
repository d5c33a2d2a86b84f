"""Stable-Baselines3 in the tenth live campaign: trainers, tasks, and when a known fault begins in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import eighth_sb3_plants
import fifth_sb3_plants
import fourth_sb3_plants
import ninth_sb3_plants
import seventh_sb3_plants
import seventh_worlds
import sixth_sb3_plants
import tenth_worlds
import third_sb3_plants
import unseen_sb3
from fifth_doses import doses
from ninth_sb3 import pieces_of
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.vec_env import DummyVecEnv
from tenth_origins import dose_of, first_list, list_of
from worlds import Truth

from firstbreak.monitor.world import World

SUBJECTS: dict[str, tuple[Any, dict[str, Any], str, bool, int, int, int]] = {
    "sb3_ppo_kiln": (
        PPO,
        {
            "n_steps": 128, "batch_size": 64, "n_epochs": 5, "learning_rate": 1e-3, "gae_lambda": 0.95, "gamma": 0.96,
            "ent_coef": 0.002, "policy_kwargs": {"net_arch": [48, 48]},
        },
        "Kiln", True, 4, 18_000, 25,
    ),
    "sb3_a2c_raft": (
        A2C,
        {"n_steps": 10, "learning_rate": 1.5e-3, "gamma": 0.95, "gae_lambda": 0.9, "ent_coef": 0.003},
        "Raft", False, 6, 24_000, 30,
    ),
    "sb3_dqn_raft": (
        DQN,
        {
            "learning_rate": 1.5e-3, "batch_size": 48, "learning_starts": 400, "target_update_interval": 200,
            "train_freq": 2, "exploration_fraction": 0.25, "exploration_final_eps": 0.05, "gamma": 0.95,
            "policy_kwargs": {"net_arch": [96, 48]},
        },
        "Raft", True, 1, 8_000, 14,
    ),
    "sb3_sac_kiln": (
        SAC,
        {
            "learning_rate": 1.5e-3, "learning_starts": 250, "batch_size": 96, "gamma": 0.94, "tau": 0.015,
            "policy_kwargs": {"net_arch": [48, 48]},
        },
        "Kiln", True, 1, 2_200, 7,
    ),
}  # fmt: skip
"""Class, settings, task, whether it is normalised, copies, environment steps, episodes that a return is averaged
over."""
EARLY = 0.1
"""Share of the run after which weights are kept for `checkpoint-old`."""


class Switch(BaseCallback):
    """Switches the fault on when its time has come; has what the faults of the earlier lists reach for."""

    def __init__(self, subject: str, truth: Truth, fault: str, share: float) -> None:
        super().__init__()
        self.subject, self.truth, self.fault = subject, truth, fault
        self.total = SUBJECTS[subject][5]
        self.at = share * self.total
        self.dose = doses(truth, self.total)
        self.each: list[Callable[[], None]] = []
        self.kept: Any = None

    def _on_step(self) -> bool:
        if self.kept is None and self.num_timesteps >= EARLY * self.total:
            self.kept = deepcopy(self.model.policy.state_dict())
        if math.isnan(self.truth.began) and self.num_timesteps >= self.at:
            self.truth.began = float(self.num_timesteps)
            if self.fault:
                begin(self, self.fault)
        for goes_on in self.each:
            goes_on()
        return True


def begin(switch: Any, fault: str) -> None:
    """Switch a fault on, as the list that it is of does."""
    origin, dose = list_of(fault), dose_of(fault)
    if tenth_worlds.in_the_world(fault):
        switch.truth.fault = fault
        return
    if origin == "faults":
        first_list("stable_baselines").plant(switch.model, fault)
    elif origin == "unseen":
        unseen_sb3.PLANTS[fault](switch.model)
    elif origin == "ninth":
        ninth_sb3_plants.plant(switch.model, fault, dose)
    elif origin in DOSED:
        if fault in seventh_worlds.ANEW:
            switch.truth.fault = fault
        DOSED[origin][fault](switch, dose)
    else:
        OF_SWITCH[origin][fault](switch)


OF_SWITCH: dict[str, Any] = {
    "third": third_sb3_plants.PLANTS,
    "fourth": fourth_sb3_plants.PLANTS,
    "fifth": fifth_sb3_plants.PLANTS,
    "sixth": sixth_sb3_plants.PLANTS,
}
"""What is handed the callback that switches it on."""
DOSED: dict[str, Any] = {"seventh": seventh_sb3_plants.PLANTS, "eighth": eighth_sb3_plants.PLANTS}
"""What is handed a dose, too."""


def train(
    subject: str, fault: str, seed: int, share: float, guard: Callable[[], BaseCallback], world: World, truth: Truth
) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    model = built(subject, fault, seed, world, truth)
    model.learn(SUBJECTS[subject][5], callback=[guard(), Switch(subject, truth, fault, share)], log_interval=1)


def built(subject: str, fault: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return a trainer of `subject`, in the world of the list that `fault` is of."""
    make, settings, name, scaled, copies, total, _ = SUBJECTS[subject]
    factory = tenth_worlds.maker(name, subject, fault, truth, seed, total, world, scaled)
    env = DummyVecEnv([lambda: Statistics(factory())] * copies)
    # Copied: SAC writes into its `policy_kwargs`.
    model: Any = make("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **deepcopy(settings))
    model.first_weights = {name: weight.clone() for name, weight in model.policy.state_dict().items()}
    model.pieces = pieces_of(model)
    model.collect_rollouts = model.pieces.play(model.collect_rollouts)
    return model
