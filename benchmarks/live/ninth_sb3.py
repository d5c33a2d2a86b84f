"""Stable-Baselines3 in the ninth live campaign: trainers, tasks, and when its faults begin."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import ninth_worlds
from eighth_doses import earlier
from ninth_doses import dose_of
from ninth_pieces import Pieces
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv
from worlds import Truth

from firstbreak.monitor.world import World

SMALL = {"net_arch": [64, 64]}
FAST = {"learning_rate": 2e-3, "learning_starts": 200, "batch_size": 64, "gamma": 0.95, "tau": 0.01}
SUBJECTS: dict[str, tuple[Any, dict[str, Any], str, int, int, int]] = {
    "sb3_a2c_plates": (
        A2C, {"n_steps": 8, "learning_rate": 2e-3, "gamma": 0.97, "ent_coef": 0.005, "gae_lambda": 0.95},
        "Plates", 8, 24_000, 30,
    ),
    "sb3_ppo_reactor": (
        PPO,
        {
            "n_steps": 64, "batch_size": 128, "n_epochs": 8, "learning_rate": 2e-3, "gae_lambda": 0.9, "gamma": 0.95,
            "ent_coef": 0.001,
        },
        "Reactor", 8, 18_000, 30,
    ),
    "sb3_dqn_plates": (
        DQN,
        {
            "learning_rate": 1e-3, "batch_size": 64, "learning_starts": 500, "target_update_interval": 250,
            "train_freq": 3, "exploration_fraction": 0.2, "exploration_final_eps": 0.04, "gamma": 0.97,
            "policy_kwargs": SMALL,
        },
        "Plates", 1, 8_000, 12,
    ),
    "sb3_sac_reactor": (SAC, {**FAST, "policy_kwargs": SMALL}, "Reactor", 1, 1_800, 6),
    "sb3_td3_reactor": (TD3, {**FAST, "policy_kwargs": SMALL}, "Reactor", 1, 2_600, 6),
}  # fmt: skip
"""Class, settings, environment, copies, environment steps, episodes that a return is averaged over."""
NOISE = 0.2
"""Spread of the noise on TD3's actions."""


class Switch(BaseCallback):
    """Switches the fault on when its time has come."""

    def __init__(self, subject: str, truth: Truth, fault: str, share: float) -> None:
        super().__init__()
        self.subject, self.truth, self.fault = subject, truth, fault
        self.at = earlier(share) * SUBJECTS[subject][4]

    def _on_step(self) -> bool:
        if math.isnan(self.truth.began) and self.num_timesteps >= self.at:
            self.truth.began = float(self.num_timesteps)
            self.begin()
        return True

    def begin(self) -> None:
        """Switch the fault on."""
        from ninth_sb3_plants import plant

        if self.fault in ninth_worlds.FAULTS:
            self.truth.fault = self.fault
        elif self.fault:
            plant(self.model, self.fault, dose_of(self.fault, self.subject))


def train(
    subject: str, fault: str, seed: int, share: float, guard: Callable[[], BaseCallback], world: World, truth: Truth
) -> None:
    """Train once; the fault comes after `share` of the run, moved; `truth` hears what really happened."""
    model = built(subject, seed, world, truth)
    model.learn(SUBJECTS[subject][4], callback=[guard(), Switch(subject, truth, fault, share)], log_interval=1)


def built(subject: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return a trainer of `subject`."""
    import numpy as np

    make, settings, name, copies, _, _ = SUBJECTS[subject]
    factory = ninth_worlds.maker(name, subject, truth, seed, world)
    env = DummyVecEnv([lambda: Statistics(factory())] * copies)
    settings = deepcopy(settings)  # SAC writes into its `policy_kwargs`.
    if make is TD3:
        settings["action_noise"] = NormalActionNoise(np.zeros(2), NOISE * np.ones(2))
    model = make("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **settings)
    model.pieces = pieces_of(model)
    model.collect_rollouts = model.pieces.play(model.collect_rollouts)
    return model


def pieces_of(model: Any) -> Pieces:
    """Return what faults reach into of a model."""
    if isinstance(model, DQN):
        net = model.q_net.q_net
        return Pieces([model.policy.optimizer], net, net[-1], list(net.parameters()))
    if hasattr(model, "rollout_buffer"):
        policy = model.policy
        critics = [*policy.mlp_extractor.value_net.parameters(), *policy.value_net.parameters()]
        return Pieces([policy.optimizer], policy.mlp_extractor.policy_net, policy.action_net, critics)
    actor, critics = model.actor, list(model.critic.parameters())
    if isinstance(model, TD3):
        return Pieces([model.critic.optimizer, actor.optimizer], actor.mu, actor.mu[-2], critics)
    others = [model.critic.optimizer, actor.optimizer, model.ent_coef_optimizer]
    return Pieces(others, actor, actor.mu, critics)
