"""The space of ordinary trainings that the healthy draw draws from: trainers, tasks, settings, what is around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from drawn_list import drawn
from healthy_tasks import CONTINUOUS, DISCRETE, LIMITS, OWN, SAME_LENGTH, Around

TRAINERS = (
    "sb3_ppo", "sb3_ppo", "sb3_a2c", "sb3_dqn", "sb3_sac", "sb3_td3", "ppo", "dqn", "sac", "mmrkhs", "grpo",
)  # fmt: skip
"""Each is as likely as it is often here."""
ON_POLICY = ("sb3_ppo", "sb3_a2c", "ppo", "mmrkhs")
STEPS = {
    "sb3_ppo": 20_000, "sb3_a2c": 20_000, "ppo": 16_000, "mmrkhs": 24_000, "sb3_dqn": 12_000, "dqn": 8_000,
    "sb3_sac": 4_000, "sb3_td3": 4_000, "sac": 3_000, "grpo": 120,
}  # fmt: skip
"""Environment steps; updates of a language model."""
SHORT_AT_END = ("Stock", "Follow", "Crane", "Escort", "Tank", "Arm", "Descend", "Lanes")
"""Tasks of some thirty steps, which can be learned where all is paid at the end."""
HARD = ("MountainCar-v0", "MountainCarContinuous-v0", "LunarLander-v3", "Swimmer-v5")
"""Hardly learned in so few steps: a healthy training that gets nowhere, or not far, is no fault either."""

RATES = (1e-4, 3e-4, 1e-3, 3e-3)
SPACE: dict[str, dict[str, Sequence[Any]]] = {
    "sb3_ppo": {
        "learning_rate": RATES, "schedule": ("constant", "linear"), "copies": (1, 4, 8), "rollout": (256, 512, 1024),
        "batch_size": (32, 64, 256), "n_epochs": (4, 10, 20), "gamma": (0.9, 0.97, 0.99),
        "gae_lambda": (0.9, 0.95, 1.0),
        "clip_range": (0.1, 0.2, 0.3), "ent_coef": (0.0, 0.001, 0.01), "target_kl": (None, None, 0.03),
        "width": (32, 64),
    },
    "sb3_a2c": {
        "learning_rate": (3e-4, 7e-4, 2e-3), "schedule": ("constant", "linear"), "copies": (4, 8, 16),
        "n_steps": (5, 8, 16), "gamma": (0.9, 0.97, 0.99), "gae_lambda": (0.95, 1.0), "ent_coef": (0.0, 0.001, 0.01),
        "width": (32, 64),
    },
    "sb3_dqn": {
        "learning_rate": RATES, "schedule": ("constant", "linear"), "batch_size": (32, 64, 128),
        "learning_starts": (100, 500, 1000), "target_update_interval": (100, 250, 1000), "train_freq": (2, 4, 8),
        "exploration_fraction": (0.1, 0.3, 0.6), "exploration_final_eps": (0.01, 0.05, 0.1), "gamma": (0.9, 0.97, 0.99),
        "buffer_size": (2_000, 50_000), "width": (32, 64),
    },
    "sb3_sac": {
        "learning_rate": (3e-4, 1e-3, 3e-3), "schedule": ("constant", "linear"), "batch_size": (64, 128),
        "learning_starts": (100, 300), "gamma": (0.9, 0.97, 0.99), "tau": (0.005, 0.02),
        "ent_coef": ("auto", "auto_0.1", 0.05), "width": (32, 64),
    },
    "sb3_td3": {
        "learning_rate": (3e-4, 1e-3, 3e-3), "schedule": ("constant", "linear"), "batch_size": (64, 128),
        "learning_starts": (100, 300), "gamma": (0.9, 0.97, 0.99), "tau": (0.005, 0.02), "noise": (0.1, 0.3),
        "width": (32, 64),
    },
    "ppo": {
        "learning_rate": RATES, "anneal_lr": (True, False), "num_envs": (1, 4, 8), "num_steps": (64, 128),
        "num_minibatches": (2, 4, 8), "update_epochs": (4, 8), "gamma": (0.9, 0.97, 0.99),
        "gae_lambda": (0.9, 0.95, 1.0),
        "clip_range": (0.1, 0.2, 0.3), "entropy_coef": (0.0, 0.001, 0.01), "target_kl": (None, None, 0.03),
    },
    "dqn": {
        "learning_rate": RATES, "batch_size": (32, 64, 128), "learning_starts": (200, 500),
        "train_frequency": (2, 4, 8),
        "target_interval": (100, 250, 1000), "epsilon_frac": (0.1, 0.3, 0.6), "epsilon_end": (0.01, 0.05, 0.1),
        "gamma": (0.9, 0.97, 0.99), "num_envs": (1, 1, 4), "buffer_size": (2_000, 100_000), "double": (True, False),
    },
    "sac": {
        "actor_lr": (3e-4, 1e-3, 3e-3), "critic_lr": (1e-3, 3e-3), "alpha_lr": (1e-3, 4e-3), "batch_size": (64, 128),
        "alpha_initial": (0.1, 0.3, 1.0), "learning_starts": (100, 300), "gamma": (0.9, 0.97, 0.99),
        "tau": (0.005, 0.02), "log_every_steps": (25, 100), "alpha_learnt": (True, True, False),
    },
    "mmrkhs": {
        "actor_lr": (3e-4, 1e-3, 3e-3), "critic_lr": (1e-3, 3e-3), "num_envs": (4, 8), "rollout_steps": (64, 128),
        "epochs": (5, 10), "minibatch_size": (128, 256), "gamma": (0.9, 0.97, 0.99), "gae_lambda": (0.9, 0.95),
    },
    "grpo": {
        "learning_rate": (5e-4, 1e-3, 2e-3, 4e-3), "lr_scheduler_type": ("constant", "linear", "cosine"),
        "beta": (0.0, 0.0, 0.04), "temperature": (0.7, 1.0), "num_generations": (4, 8, 16),
        "loss_type": ("dapo", "grpo", "dr_grpo"), "scale_rewards": ("group", "batch", "none"),
        "num_iterations": (1, 1, 2),
    },
}  # fmt: skip
"""What is drawn of each setting, each as likely as it is often here; all other settings are the library's own."""


@dataclass(frozen=True)
class Ordinary:
    """One training."""

    number: int
    trainer: str
    task: str
    seed: int
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    around: Around = field(default_factory=Around)
    normalised: bool = False
    """Observations, and rewards where the trainer is on-policy, go through running statistics."""
    world: bool = True
    """Whether the monitor watches the environment, too."""

    @property
    def name(self) -> str:
        return f"{self.number:03}-{self.trainer}-{self.task}"


def ordinary(salt: str, number: int) -> Ordinary:
    """Return training `number` of the draw that is called `salt`: nobody chose it."""

    def pick(what: str, among: Sequence[Any]) -> Any:
        return among[int(drawn("healthy", salt, number, what) * len(among))]

    trainer = pick("trainer", TRAINERS)
    settings = {key: pick(key, among) for key, among in SPACE[trainer].items()}
    seed = int(drawn("healthy", salt, number, "seed") * 10_000)
    if trainer == "grpo":
        return Ordinary(number, trainer, pick("task", ("echo", "turns", "following", "mirror")), seed, settings)
    tasks = DISCRETE if trainer.endswith("dqn") else CONTINUOUS
    if trainer in ON_POLICY and pick("kind", ("discrete", "continuous")) == "discrete":
        tasks = DISCRETE
    if trainer in ("sac", "sb3_sac", "sb3_td3"):
        tasks = CONTINUOUS
    task = pick("task", tasks)
    if task in HARD:
        task = pick("task again", tasks)
    rewards = ["plain", "plain", "noisy", "x0.1", "x10"]
    rewards += ["shifted"] if task in SAME_LENGTH else []
    rewards += ["at-end"] if task in SHORT_AT_END else []
    limit = 0 if task in OWN else pick("limit", LIMITS[task])
    return Ordinary(
        number, trainer, task, seed, settings, Around(limit, pick("reward", rewards)),
        pick("normalised", (True, False, False)), pick("world", (True, True, False)),
    )  # fmt: skip
