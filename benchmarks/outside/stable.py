"""Stable-Baselines3 as it comes: its own logger, its own Monitor, nothing beside them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from benchmarks.outside.switches import PlannedStop, Planted

MAKES: dict[str, Any] = {"PPO": PPO, "A2C": A2C, "DQN": DQN, "SAC": SAC, "TD3": TD3}
OPTIONS = (
    "copies",
    "normalised",
    "evaluate_every",
    "total",
    "log_interval",
    "formats",
    "monitored",
    "stop_at",
    "noise",
)
"""Settings that are not arguments of the algorithm."""
EVALUATED = 5
"""Episodes of an evaluation."""


class Evaluation(BaseCallback):
    """An evaluation of the user's own; what it hands to the policy is normalised as the training's is, or is not."""

    def __init__(self, make: Callable[[], gym.Env[Any, Any]], every: int, planted: Planted) -> None:
        super().__init__()
        self.env, self.every, self.planted, self.next = make(), every, planted, every
        self.scores: list[tuple[int, float]] = []

    def _on_step(self) -> bool:
        if self.num_timesteps >= self.next:
            self.next += self.every
            lengths = [self.episode(1000 + k) for k in range(EVALUATED)]
            score = float(np.mean([total for total, _ in lengths]))
            self.scores.append((self.num_timesteps, score))
            self.logger.record("eval/mean_reward", score)
            self.logger.record("eval/mean_ep_length", float(np.mean([length for _, length in lengths])))
        return True

    def episode(self, seed: int) -> tuple[float, int]:
        """Play one episode without noise, and return its return and length."""
        obs, _ = self.env.reset(seed=seed)
        total, length, over = 0.0, 0, False
        while not over:
            action, _ = self.model.predict(self.seen(obs), deterministic=True)
            obs, reward, terminated, truncated, _ = self.env.step(action)
            total, length, over = total + float(reward), length + 1, terminated or truncated
        return total, length

    def seen(self, obs: Any) -> Any:
        env = self.training_env
        if not isinstance(env, VecNormalize) or self.planted.on("evaluation-not-normalised"):
            return obs
        return env.normalize_obs(obs)


class Switch(BaseCallback):
    """What happens while the run goes: a fault that is switched on, or a stop by hand."""

    def __init__(self, planted: Planted, stop_at: int | None) -> None:
        super().__init__()
        self.planted, self.stop_at, self.done = planted, stop_at, False

    def _on_step(self) -> bool:
        if not self.done and self.planted.on(self.planted.name) and self.planted.name in MIDWAY:
            self.done = True
            MIDWAY[self.planted.name](self.model)
        if self.stop_at and self.num_timesteps >= self.stop_at:
            raise PlannedStop
        return True


def normaliser_lost(model: Any) -> None:
    """A restart brings the weights back, but not the statistics of the observations, which are kept from then on."""
    model.env.obs_rms = RunningMeanStd(shape=model.observation_space.shape)
    model.env.training = False


def rate_jumps(model: Any) -> None:
    """From now on the learning rate is a hundred times what it was."""
    rate = 100 * model.lr_schedule(1.0)
    model.lr_schedule = lambda _: rate


def weights_nan(model: Any) -> None:
    """One number of the policy's first layer is not one."""
    with torch.no_grad():
        next(model.policy.parameters())[0, 0] = float("nan")


def optimiser_of_copy(model: Any) -> None:
    """The actor's optimiser holds the parameters of a copy of the actor."""
    model.actor.optimizer = torch.optim.Adam(deepcopy(model.actor).parameters(), lr=model.lr_schedule(1.0))


def buffer_takes_nothing(model: Any) -> None:
    """Nothing new enters the replay buffer."""
    model.replay_buffer.add = lambda *_, **__: None


def target_never(model: Any) -> None:
    """The target network keeps the weights that it has."""
    model.target_update_interval = 10**9


def bonus_jumps(model: Any) -> None:
    """The entropy bonus becomes two: a decimal point was lost in a schedule."""
    model.ent_coef = 2.0


MIDWAY: dict[str, Callable[[Any], None]] = {
    "normaliser-lost": normaliser_lost,
    "learning-rate-jumps": rate_jumps,
    "weights-nan": weights_nan,
    "optimiser-of-copy": optimiser_of_copy,
    "buffer-takes-nothing": buffer_takes_nothing,
    "target-never": target_never,
    "entropy-bonus-jumps": bonus_jumps,
}


def schedule(rate: Any) -> Any:
    """Return a learning rate, or what a text like `linear 1e-3` stands for, a function of the progress that is left."""
    if not isinstance(rate, str):
        return rate
    shape, number = rate.split()
    top = float(number)
    if shape == "linear":
        return lambda left: top * left
    if shape == "rising":  # `left` was taken for what is done
        return lambda left: top * (1 - left)
    raise ValueError(f"no schedule {shape!r}")


def train(
    make: Callable[[], gym.Env[Any, Any]],
    algorithm: str,
    given: dict[str, Any],
    seed: int,
    planted: Planted,
    folder: Path,
    make_eval: Callable[[], gym.Env[Any, Any]],
) -> list[tuple[int, float]]:
    """Train once; the log lands in `folder`. Returns what the user's evaluations said."""
    options = {name: given[name] for name in OPTIONS if name in given}
    settings = {name: value for name, value in given.items() if name not in OPTIONS}
    copies = int(options.get("copies", 1))
    env: Any = DummyVecEnv([copy_of(make, i, folder, bool(options.get("monitored", True))) for i in range(copies)])
    if wanted := options.get("normalised"):
        env = VecNormalize(env, norm_reward=wanted == "reward", gamma=settings.get("gamma", 0.99))
    settings["learning_rate"] = schedule(settings.get("learning_rate", 3e-4))
    if "net_arch" in settings:
        settings["policy_kwargs"] = {"net_arch": settings.pop("net_arch")}
    if spread := options.get("noise"):
        acts = env.action_space.shape[0]
        settings["action_noise"] = NormalActionNoise(np.zeros(acts), spread * np.ones(acts))
    model = MAKES[algorithm]("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **settings)
    model.set_logger(configure(str(folder), list(options.get("formats", ["csv"]))))
    callbacks: list[BaseCallback] = [Switch(planted, options.get("stop_at"))]
    evaluation = None
    if every := options.get("evaluate_every"):
        evaluation = Evaluation(make_eval, int(every), planted)
        callbacks.append(evaluation)
    try:
        model.learn(options["total"], callback=callbacks, log_interval=options.get("log_interval", DEFAULT[algorithm]))
    finally:
        model.logger.close()
        env.close()
    return evaluation.scores if evaluation else []


DEFAULT = {"PPO": 1, "A2C": 100, "DQN": 4, "SAC": 4, "TD3": 4}
"""What Stable-Baselines3 itself takes for `log_interval`."""


def copy_of(
    make: Callable[[], gym.Env[Any, Any]], number: int, folder: Path, monitored: bool
) -> Callable[[], gym.Env[Any, Any]]:
    """Return what makes copy `number`, with SB3's Monitor and its file."""
    return lambda: Monitor(make(), str(folder / str(number))) if monitored else make()
