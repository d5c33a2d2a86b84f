"""Stable-Baselines3 algorithms as trainers: `sb3:PPO`, `sb3:A2C`, `sb3:DQN`, `sb3:SAC`, with settings of your own.

The settings below are for speed on the ladder, not for any real task: small networks, short rollouts, large learning
rates. A settings table given by the user is laid over them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from ...errors import InputError, missing_extra, unknown_name

ON_POLICY = ("PPO", "A2C")
ALGORITHMS = ("PPO", "A2C", "DQN", "SAC", "TD3", "DDPG")

SETTINGS: dict[str, dict[str, Any]] = {
    "PPO": {"n_steps": 16, "batch_size": 64, "n_epochs": 4, "learning_rate": 5e-3, "gae_lambda": 0.95, "n_envs": 16},
    "A2C": {"n_steps": 8, "learning_rate": 5e-3, "gae_lambda": 0.95, "n_envs": 16, "use_rms_prop": False},
    "DQN": {
        "learning_rate": 3e-3,
        "buffer_size": 20_000,
        "learning_starts": 128,
        "batch_size": 64,
        "train_freq": 2,
        "target_update_interval": 100,
        "exploration_fraction": 0.5,
    },
    "SAC": {"learning_rate": 3e-3, "buffer_size": 20_000, "learning_starts": 128, "batch_size": 64, "train_freq": 1,
            "tau": 0.05, "ent_coef": "auto_0.1"},
    "TD3": {"learning_rate": 3e-3, "buffer_size": 20_000, "learning_starts": 128, "batch_size": 64, "tau": 0.05},
    "DDPG": {"learning_rate": 3e-3, "buffer_size": 20_000, "learning_starts": 128, "batch_size": 64, "tau": 0.05},
}  # fmt: skip
"""Settings for the ladder, by algorithm; `n_envs` is ours, the rest is SB3's."""

STEPS = {"PPO": 6144, "A2C": 6144, "DQN": 3000, "SAC": 1500, "TD3": 1500, "DDPG": 1500}
"""Steps of the first try, by algorithm."""

ACTIONS = {"PPO": ("discrete", "continuous"), "A2C": ("discrete", "continuous"), "DQN": ("discrete",)}
"""Action spaces an algorithm takes; those not named take continuous ones."""


class Agent:
    """What a rung asks of a trained SB3 model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.gamma = float(model.gamma)
        if hasattr(model, "log_ent_coef"):
            coefficient = model.log_ent_coef.exp() if model.log_ent_coef is not None else model.ent_coef_tensor
            self.temperature = float(coefficient)
        policy = model.policy
        if hasattr(policy, "predict_values"):
            self.value = self._state_value
        elif hasattr(model, "q_net"):
            self.q = self._discrete_q
        else:
            self.q = self._continuous_q

    def act(self, obs: Any, deterministic: bool) -> Any:
        """Return the action for one observation [D]."""
        return self.model.predict(obs, deterministic=deterministic)[0]

    def _state_value(self, obs: Any) -> float:
        import torch

        with torch.no_grad():
            return float(self.model.policy.predict_values(self._tensor(obs)))

    def _discrete_q(self, obs: Any, action: Any) -> float:
        import torch

        with torch.no_grad():
            return float(self.model.q_net(self._tensor(obs))[0, int(action)])

    def _continuous_q(self, obs: Any, action: Any) -> float:
        import torch

        scaled = self.model.policy.scale_action(action)
        with torch.no_grad():
            return min(float(q) for q in self.model.critic(self._tensor(obs), self._tensor(scaled)))

    def _tensor(self, array: Any) -> Any:
        import torch

        return torch.as_tensor(array, dtype=torch.float32, device=self.model.device).reshape(1, -1)


class Trainer:
    """An SB3 algorithm as `train(make_env, *, total_steps, seed, gamma)`."""

    def __init__(self, algorithm: Any, name: str, settings: Mapping[str, Any]) -> None:
        self.algorithm = algorithm
        self.settings = {**SETTINGS.get(name, {}), **settings}
        self.actions = ACTIONS.get(name, ("continuous",))
        self.steps = STEPS.get(name, 6144)
        self.on_policy = name in ON_POLICY

    def __call__(self, make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99) -> Agent:
        """Train and return the agent."""
        import torch
        from stable_baselines3.common.vec_env import DummyVecEnv

        with contextlib.suppress(RuntimeError):
            torch.set_num_threads(1)
        settings = dict(self.settings)
        copies = int(settings.pop("n_envs", 1))
        if copies < 1:
            raise InputError(f"n_envs={copies}: without an environment nothing is collected.", "Give 1 or more.")
        settings.setdefault("policy_kwargs", {"net_arch": [32]})
        model = self.algorithm(
            settings.pop("policy", "MlpPolicy"),
            DummyVecEnv([make_env] * copies),
            **{"gamma": gamma, "seed": seed, "device": "cpu", "verbose": 0, **settings},
        )
        model.learn(total_steps)
        return Agent(model)


def trainer(name: str, settings: Mapping[str, Any]) -> Trainer:
    """Return the SB3 algorithm called `name` (of stable_baselines3 or sb3_contrib) as a trainer.

    Raises:
        UnknownNameError: there is no such algorithm.
        MissingExtraError: Stable-Baselines3 is not installed.
    """
    try:
        import stable_baselines3
    except ImportError as error:
        raise missing_extra("stable_baselines3", "sb3", "A probe of an SB3 algorithm") from error
    algorithm = getattr(stable_baselines3, name, None)
    if algorithm is None:
        raise unknown_name("SB3 algorithm", name, ALGORITHMS)
    return adapt(algorithm, settings)


def adapt(algorithm: Any, settings: Mapping[str, Any] | None = None) -> Trainer:
    """Return an SB3 algorithm class (or a subclass of one) as a trainer."""
    for parent in getattr(algorithm, "__mro__", ()):
        if parent.__name__ in SETTINGS:
            return Trainer(algorithm, parent.__name__, settings or {})
    raise InputError(
        f"{algorithm!r} is not an SB3 algorithm.", f"Known are {', '.join(ALGORITHMS)} and their subclasses."
    )
