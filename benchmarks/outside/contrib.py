"""sb3-contrib's algorithms as they come, with Stable-Baselines3's own logger and Monitor.

sb3-contrib is no dependency of this project: `pip install --no-deps sb3-contrib` where runs are made anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper

from benchmarks.outside.stable import Evaluation, Switch, copy_of
from benchmarks.outside.switches import Planted

OPTIONS = ("copies", "evaluate_every", "total", "log_interval", "formats", "stop_at")
"""Settings that are not arguments of the algorithm."""
POLICIES = {"RecurrentPPO": "MlpLstmPolicy"}


class Handed(VecEnvWrapper):
    """Where it is so planted, each copy is paid what its neighbour earned."""

    def __init__(self, venv: Any, planted: Planted) -> None:
        super().__init__(venv)
        self.planted = planted

    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> Any:
        obs, rewards, dones, infos = self.venv.step_wait()
        if self.planted.on("rewards-of-other-copies"):
            rewards = np.roll(rewards, 1)
        return obs, rewards, dones, infos


def rate(given: Any) -> Any:
    """Return a learning rate, or what `fading 1e-3` stands for: it is gone after a tenth of the run."""
    if not isinstance(given, str):
        return given
    top = float(given.split()[1])
    return lambda left: top * max(0.0, 1 - 10 * (1 - left))


def train(
    make: Callable[[], gym.Env[Any, Any]],
    algorithm: str,
    given: dict[str, Any],
    seed: int,
    planted: Planted,
    folder: Path,
    make_eval: Callable[[], gym.Env[Any, Any]],
) -> list[tuple[int, float]]:
    """Train once; the log lands in `folder`. Returns what the evaluations said."""
    import sb3_contrib

    options = {name: given[name] for name in OPTIONS if name in given}
    settings = {name: value for name, value in given.items() if name not in OPTIONS}
    copies = [copy_of(make, i, folder, True) for i in range(int(options.get("copies", 1)))]
    env = Handed(DummyVecEnv(copies), planted)
    settings["learning_rate"] = rate(settings.get("learning_rate", 3e-4))
    shape = {name: settings.pop(name) for name in ("net_arch", "n_quantiles", "lstm_hidden_size") if name in settings}
    model = getattr(sb3_contrib, algorithm)(
        POLICIES.get(algorithm, "MlpPolicy"), env, seed=seed, device="cpu", verbose=0, policy_kwargs=shape, **settings
    )
    model.set_logger(configure(str(folder), list(options["formats"])))
    callbacks: list[BaseCallback] = [Switch(planted, options.get("stop_at"))]
    evaluation = None
    if every := options.get("evaluate_every"):
        evaluation = Evaluation(make_eval, int(every), planted)
        callbacks.append(evaluation)
    try:
        model.learn(options["total"], callback=callbacks, log_interval=options.get("log_interval", 1))
    finally:
        model.logger.close()
        env.close()
    return evaluation.scores if evaluation else []
