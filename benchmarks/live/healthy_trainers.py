"""How the trainings of the healthy draw are made: Stable-Baselines3, the reference trainers, TRL's GRPO."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from healthy_settings import ON_POLICY, STEPS, Ordinary
from healthy_tasks import maker
from worlds import Truth

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World


def monitored(run: Ordinary) -> dict[str, Any]:
    """Return what a user tells the monitor of this training."""
    if run.trainer.startswith("sb3"):
        return {}
    if run.trainer == "grpo":
        return {"framework": "trl", "algorithm": "GRPO"}
    _, config, algorithm = reference(run)
    settings = {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}
    return {"algorithm": algorithm, "config": settings, "clock": "env_steps"}


def train(run: Ordinary, monitor: Monitor, world: World | None, truth: Truth) -> None:
    """Train once."""
    if run.trainer == "grpo":
        train_language(run, monitor, truth)
    elif run.trainer.startswith("sb3"):
        train_sb3(run, monitor, maker(run.task, run.around, truth, run.seed, world))
    else:
        from firstbreak.monitor.adapters.reference import log_to

        make, config, _ = reference(run)
        factory = maker(run.task, run.around, truth, run.seed, world)
        trainer = make(normalised(factory) if run.normalised else factory, seed=run.seed, config=config)
        trainer.learn(STEPS[run.trainer], log_to(monitor, trainer))


def normalised(factory: Callable[[], Any]) -> Callable[[], Any]:
    """Return a factory whose copies each scale what they show by what they have shown."""
    return lambda: gym.wrappers.NormalizeObservation(factory())


def reference(run: Ordinary) -> tuple[Any, Any, str]:
    """Return class, settings and algorithm of a reference trainer."""
    from firstbreak.trainers.dqn import DQN, DQNConfig
    from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
    from firstbreak.trainers.ppo import PPO, PPOConfig
    from firstbreak.trainers.sac import SAC, SACConfig

    if run.trainer == "sac":
        return SAC, SACConfig(hidden_sizes=(64, 64), **run.settings), "SAC"
    known: dict[str, tuple[Any, Any, str]] = {
        "ppo": (PPO, PPOConfig, "PPO"), "dqn": (DQN, DQNConfig, "DQN"), "mmrkhs": (MMRKHS, MMRKHSConfig, "MM-RKHS"),
    }  # fmt: skip
    make, config, algorithm = known[run.trainer]
    return make, config(**run.settings), algorithm


def train_sb3(run: Ordinary, monitor: Monitor, factory: Callable[[], Any]) -> None:
    """Train with Stable-Baselines3, as its zoo would."""
    import stable_baselines3 as sb3
    from stable_baselines3.common.monitor import Monitor as Statistics
    from stable_baselines3.common.noise import NormalActionNoise
    from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecNormalize

    from firstbreak.monitor.adapters.sb3 import MonitorCallback

    settings = dict(run.settings)
    copies = settings.pop("copies", 1)
    env: VecEnv = DummyVecEnv([lambda: Statistics(factory())] * copies)
    if run.normalised:
        env = VecNormalize(env, norm_reward=run.trainer in ON_POLICY, gamma=settings["gamma"])
    rate = settings.pop("learning_rate")
    settings["learning_rate"] = (lambda left: rate * left) if settings.pop("schedule") == "linear" else rate
    settings["policy_kwargs"] = {"net_arch": [settings.pop("width")] * 2}
    if "rollout" in settings:
        settings["n_steps"] = settings.pop("rollout") // copies
    if "noise" in settings:
        size, width = env.action_space.shape, settings.pop("noise") * float(np.max(env.action_space.high))
        settings["action_noise"] = NormalActionNoise(np.zeros(size), width * np.ones(size))
    make = getattr(sb3, run.trainer[len("sb3_") :].upper())
    model = make("MlpPolicy", env, seed=run.seed, device="cpu", verbose=0, **settings)
    model.learn(STEPS[run.trainer], callback=MonitorCallback(monitor), log_interval=1)


def train_language(run: Ordinary, monitor: Monitor, truth: Truth) -> None:
    """Train the tiny language model with TRL's GRPO on one of the questions of the lists before."""
    import language
    import sixth_language
    import third_language
    import unseen_language
    from tiny_language_model import grpo

    from firstbreak.monitor.adapters.trl import watch

    scored: Any = {"echo": language, "turns": unseen_language, "following": third_language, "mirror": sixth_language}
    with tempfile.TemporaryDirectory() as folder:
        trainer = grpo(folder, steps=STEPS["grpo"], seed=run.seed, **run.settings)
        sixth_language.only(trainer, scored[run.task].Scored(truth))
        watch(trainer, monitor)
        trainer.train()
