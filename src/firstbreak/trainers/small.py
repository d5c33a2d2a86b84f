"""The reference trainers with settings for tiny tasks: what the probes climb in a minute or two on two cores.

    firstbreak probe firstbreak.trainers.small:ppo

Small networks, many short rollouts, large learning rates that do not fall. They suit no real task.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dqn import DQN, DQNConfig
from .dqn import train as train_dqn
from .mmrkhs import MMRKHS, MMRKHSConfig
from .mmrkhs import train as train_mmrkhs
from .ppo import PPO, PPOConfig
from .ppo import train as train_ppo
from .sac import SAC, SACConfig
from .sac import train as train_sac

MakeEnv = Callable[[], Any]

PPO_CONFIG = PPOConfig(
    num_envs=16,
    num_steps=16,
    num_minibatches=4,
    update_epochs=4,
    learning_rate=5e-3,
    anneal_lr=False,
    entropy_coef=0.0,
    hidden_sizes=(32,),
)
DQN_CONFIG = DQNConfig(
    buffer_size=20_000,
    learning_starts=128,
    train_frequency=2,
    learning_rate=3e-3,
    target_interval=50,
    epsilon_frac=0.5,
    hidden_sizes=(32,),
)
SAC_CONFIG = SACConfig(
    buffer_size=20_000,
    learning_starts=128,
    batch_size=64,
    actor_lr=3e-3,
    critic_lr=3e-3,
    alpha_lr=3e-3,
    alpha_initial=0.1,
    tau=0.05,
    hidden_sizes=(32,),
)
MMRKHS_CONFIG = MMRKHSConfig(
    num_envs=16,
    rollout_steps=16,
    epochs=4,
    minibatch_size=64,
    actor_lr=5e-3,
    critic_lr=5e-3,
    hidden_sizes=(32,),
)


def ppo(make_env: MakeEnv, *, total_steps: int, seed: int, gamma: float = 0.99) -> PPO:
    """Train PPO."""
    return train_ppo(make_env, total_steps=total_steps, seed=seed, gamma=gamma, config=PPO_CONFIG)


def dqn(make_env: MakeEnv, *, total_steps: int, seed: int, gamma: float = 0.99) -> DQN:
    """Train DQN."""
    return train_dqn(make_env, total_steps=total_steps, seed=seed, gamma=gamma, config=DQN_CONFIG)


def sac(make_env: MakeEnv, *, total_steps: int, seed: int, gamma: float = 0.99) -> SAC:
    """Train SAC."""
    return train_sac(make_env, total_steps=total_steps, seed=seed, gamma=gamma, config=SAC_CONFIG)


def mmrkhs(make_env: MakeEnv, *, total_steps: int, seed: int, gamma: float = 0.99) -> MMRKHS:
    """Train MM-RKHS."""
    return train_mmrkhs(make_env, total_steps=total_steps, seed=seed, gamma=gamma, config=MMRKHS_CONFIG)


for _train, _steps in ((ppo, 6144), (dqn, 3000), (sac, 1500), (mmrkhs, 6144)):
    _train.steps = _steps  # pyright: ignore[reportFunctionMemberAccess] (the ladder reads how long a first try is)
