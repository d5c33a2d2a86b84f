"""Stable-Baselines3 with its own logger, as the first list has it, and what the fourth list does to it in mid-run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from benchmarks.outside import stable
from benchmarks.outside.switches import PlannedStop, Planted

Make = Callable[[], gym.Env[Any, Any]]


class Evaluation(stable.Evaluation):
    """An evaluation of the user's own, of the mean action, unless it is of samples."""

    def episode(self, seed: int) -> tuple[float, int]:
        """Play one episode, and return its return and length."""
        obs, _ = self.env.reset(seed=seed)
        total, length, over = 0.0, 0, False
        while not over:
            steady = not self.planted.on("evaluation-sampled")
            action, _ = self.model.predict(self.seen(obs), deterministic=steady)
            obs, reward, terminated, truncated, _ = self.env.step(action)
            total, length, over = total + float(reward), length + 1, terminated or truncated
        return total, length


class Switch(BaseCallback):
    """What happens while the run goes: a fault that is switched on, or a stop by hand."""

    def __init__(self, planted: Planted, stop_at: float | None, total: int) -> None:
        super().__init__()
        self.planted, self.last, self.done = planted, (stop_at or 2.0) * total, False

    def _on_step(self) -> bool:
        change = CHANGES.get(self.planted.name)
        if change and not self.done and self.planted.on(self.planted.name):
            self.done = True
            change(self.model)
        if self.num_timesteps >= self.last:
            raise PlannedStop
        return True


def normaliser_lost(model: Any) -> None:
    """A second process takes up the weights, and normalises by what it has seen itself: nothing."""
    model.env.obs_rms = RunningMeanStd(shape=model.observation_space.shape)


def target_sign(model: Any) -> None:
    """The temperature is steered to an entropy of plus the number of actions."""
    model.target_entropy = -model.target_entropy


CHANGES: dict[str, Callable[[Any], None]] = {
    "normaliser-lost-on-resume": normaliser_lost,
    "entropy-target-sign": target_sign,
}


def train(
    make: Make, algorithm: str, given: dict[str, Any], seed: int, planted: Planted, folder: Path, aside: Make
) -> list[tuple[int, float]]:
    """Train once; the log lands in `folder`. Returns what the user's evaluations said."""
    options = {name: given[name] for name in stable.OPTIONS if name in given}
    settings = {name: value for name, value in given.items() if name not in stable.OPTIONS}
    copies, total = int(options.get("copies", 1)), int(options["total"])
    env: Any = DummyVecEnv([stable.copy_of(make, i, folder, True) for i in range(copies)])
    if wanted := options.get("normalised"):
        env = VecNormalize(env, norm_reward=wanted == "reward", gamma=settings.get("gamma", 0.99))
    settings["learning_rate"] = stable.schedule(settings.get("learning_rate", 3e-4))
    if "net_arch" in settings:
        settings["policy_kwargs"] = {"net_arch": settings.pop("net_arch")}
    model = stable.MAKES[algorithm]("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **settings)
    model.set_logger(configure(str(folder), list(options["formats"])))
    callbacks: list[BaseCallback] = [Switch(planted, options.get("stop_at"), total)]
    evaluation = None
    if every := options.get("evaluate_every"):
        evaluation = Evaluation(aside, int(every), planted)
        callbacks.append(evaluation)
    try:
        model.learn(total, callback=callbacks, log_interval=stable.DEFAULT[algorithm])
    except PlannedStop:
        return evaluation.scores if evaluation else []
    finally:
        model.logger.close()
        env.close()
    return evaluation.scores if evaluation else []
