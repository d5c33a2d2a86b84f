"""The settings of a TorchRL trainer under canonical names, as far as its parts tell them."""

from __future__ import annotations

from typing import Any

ALGORITHMS = {
    "ClipPPOLoss": "PPO", "KLPENPPOLoss": "PPO", "PPOLoss": "PPO", "A2CLoss": "A2C", "SACLoss": "SAC",
    "DiscreteSACLoss": "SAC", "DQNLoss": "DQN", "TD3Loss": "TD3", "DDPGLoss": "DDPG",
}  # fmt: skip
SETTINGS = {
    "gamma": "gamma", "lmbda": "gae_lambda", "clip_epsilon": "clip_range", "entropy_coeff": "ent_coef",
    "critic_coeff": "vf_coef", "target_entropy": "target_entropy",
}  # fmt: skip


def loss_config(trainer: Any) -> dict[str, Any]:
    """Return algorithm and settings of a `Trainer`."""
    loss = trainer.loss_module
    config: dict[str, Any] = {}
    algorithm = next((ALGORITHMS[kind.__name__] for kind in type(loss).__mro__ if kind.__name__ in ALGORITHMS), "")
    if algorithm:
        config["algorithm"] = algorithm
    for part in (getattr(loss, "_value_estimator", None), loss):
        for name, canonical in SETTINGS.items():
            value = _plain(getattr(part, name, None))
            if value is not None:
                config[canonical] = value
    for name, canonical in (("num_epochs", "n_epochs"), ("total_frames", "total_steps")):
        if isinstance(getattr(trainer, name, None), int):
            config[canonical] = getattr(trainer, name)
    if getattr(trainer, "clip_grad_norm", False) and getattr(trainer, "clip_norm", None):
        config["max_grad_norm"] = float(trainer.clip_norm)
    if getattr(trainer, "optimizer", None) is not None:
        config["lr"] = float(trainer.optimizer.param_groups[0]["lr"])
    return config


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return value
    if getattr(value, "numel", None) is not None and value.numel() == 1:
        return float(value)
    return None
