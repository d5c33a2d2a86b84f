"""The settings of a Stable-Baselines3 model under canonical names."""

from __future__ import annotations

from typing import Any

SAME = (
    "gamma", "gae_lambda", "n_steps", "n_epochs", "n_envs", "batch_size", "vf_coef", "max_grad_norm", "target_kl",
    "buffer_size", "learning_starts", "gradient_steps", "tau", "target_update_interval", "seed",
)  # fmt: skip
"""Attributes that are called what firstbreak calls them. Not `normalize_advantage`: the rows hold raw advantages."""


def model_config(model: Any) -> dict[str, Any]:
    """Return what a model was told to do; schedules as they are at the start of training."""
    config: dict[str, Any] = {"algorithm": type(model).__name__}
    config |= {name: getattr(model, name) for name in SAME if getattr(model, name, None) is not None}
    config["lr"] = float(model.lr_schedule(1.0))
    if callable(getattr(model, "clip_range", None)):
        config["clip_range"] = float(model.clip_range(1.0))
    if isinstance(getattr(model, "ent_coef", None), int | float):
        config["ent_coef"] = float(model.ent_coef)
    if isinstance(getattr(model, "target_entropy", None), int | float):
        config["target_entropy"] = float(model.target_entropy)
    if hasattr(model, "exploration_final_eps"):
        config["epsilon_final"] = float(model.exploration_final_eps)
        config["exploration_fraction"] = float(model.exploration_fraction)
    if hasattr(model, "train_freq"):
        config["train_freq"] = getattr(model.train_freq, "frequency", model.train_freq)
    normaliser = model.get_vec_normalize_env()
    if normaliser is not None:
        config["normalize_observation"] = bool(normaliser.norm_obs)
        config["normalize_reward"] = bool(normaliser.norm_reward)
    if getattr(model, "_total_timesteps", 0):
        config["total_steps"] = int(model._total_timesteps)
    return config | _actions(model.action_space)


def _actions(space: Any) -> dict[str, Any]:
    if type(space).__name__ == "Discrete":
        return {"action_space": "discrete", "n_actions": int(space.n)}
    if type(space).__name__ == "Box":
        return {"action_space": "continuous", "action_dim": int(space.shape[0]) if space.shape else 1}
    return {}
