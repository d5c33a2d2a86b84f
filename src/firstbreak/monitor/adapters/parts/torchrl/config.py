"""The settings of a TorchRL trainer under canonical names, as far as its parts tell them."""

from __future__ import annotations

from typing import Any

from .....vocabulary import WRAPPED_IN
from ....task_name import MOST_WRAPPERS, task_of

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


def task_config(trainer: Any) -> dict[str, str]:
    """Return which registered task the collector steps, see `task_of`; transforms of the reward count as wrappers."""
    env, paid = getattr(trainer.collector, "env", None), list[str]()
    for _ in range(MOST_WRAPPERS):
        paid += [name for name in _transforms(env) if "Reward" in name and name != "RewardSum"]
        inner = getattr(env, "base_env", None) or getattr(env, "_env", None)
        if inner is None:
            break
        env = inner
    found = task_of(env)
    around = [*paid, *filter(None, [found.get(WRAPPED_IN)])]
    return found | ({WRAPPED_IN: ", ".join(around)} if found and around else {})


def _transforms(env: Any) -> list[str]:
    """The classes of the transforms of one layer."""
    transform = getattr(env, "transform", None)
    parts = transform if hasattr(transform, "__iter__") else [transform]
    return [type(part).__name__ for part in parts or () if part is not None]


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return value
    if getattr(value, "numel", None) is not None and value.numel() == 1:
        return float(value)
    return None
