"""The reference trainers in the eleventh live campaign: settings and tasks; the rest is the tenth list's."""

from __future__ import annotations

from typing import Any

import eleventh_tasks
import tenth_reference
from eleventh_stand_in import standing_in
from worlds import Truth

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

assert eleventh_tasks.OWN  # importing it makes the tasks known to the tenth list's worlds
PPO_FERRY = PPOConfig(
    learning_rate=2e-3, gamma=0.97, num_envs=5, num_steps=80, num_minibatches=5, hidden_sizes=(56, 56),
    gae_lambda=0.93,
)  # fmt: skip
DQN_FERRY = DQNConfig(
    learning_rate=1.5e-3, epsilon_frac=0.2, learning_starts=500, gamma=0.96, train_frequency=2, batch_size=56,
    hidden_sizes=(80, 80),
)  # fmt: skip
SAC_LOCKS = SACConfig(
    hidden_sizes=(56, 56), batch_size=80, alpha_initial=0.3, actor_lr=1e-3, critic_lr=3e-3, learning_starts=200,
    gamma=0.9, alpha_lr=5e-3, log_every_steps=24, tau=0.03,
)  # fmt: skip
MMRKHS_FERRY = MMRKHSConfig(gamma=0.96, actor_lr=2e-3, num_envs=5, rollout_steps=100, hidden_sizes=(40, 40))
SUBJECTS: dict[str, tuple[Any, Any, str, str, bool, int, int]] = {
    "ppo_ferry": (PPO, PPO_FERRY, "PPO", "Ferry", False, 22_000, 25),
    "dqn_ferry": (DQN, DQN_FERRY, "DQN", "Ferry", True, 8_000, 10),
    "mmrkhs_ferry": (MMRKHS, MMRKHS_FERRY, "MM-RKHS", "Ferry", True, 24_000, 25),
    "sac_locks": (SAC, SAC_LOCKS, "SAC", "Locks", True, 2_400, 8),
}
"""Class, settings, algorithm, task, whether it is normalised, environment steps, episodes that a return is averaged
over."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    with standing_in(tenth_reference, SUBJECTS=SUBJECTS):
        return tenth_reference.settings_of(subject)


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    with standing_in(tenth_reference, SUBJECTS=SUBJECTS):
        tenth_reference.train(subject, fault, seed, share, monitor, world, truth)
