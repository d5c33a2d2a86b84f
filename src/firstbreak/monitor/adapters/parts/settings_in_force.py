"""Settings that an update obeys, as they stand at each row: those at the start say nothing of what became of them."""

from __future__ import annotations

from typing import Any

from .in_force import plain

LOSS_WEIGHT, TARGET_TAU, TARGET_EVERY = "critic/loss_weight", "critic/target_tau", "critic/target_interval"
EPOCHS, BATCH, CLIP = "optim/epochs", "optim/batch_size", "optim/max_grad_norm"
STEPS, DELAY, NORMALISED = "optim/gradient_steps", "policy/delay", "advantage/normalised"
EVERY, CAPACITY = "replay/train_interval", "replay/capacity"

OF_SB3 = {
    "vf_coef": LOSS_WEIGHT, "tau": TARGET_TAU, "target_update_interval": TARGET_EVERY, "n_epochs": EPOCHS,
    "batch_size": BATCH, "max_grad_norm": CLIP, "gradient_steps": STEPS, "policy_delay": DELAY,
    "normalize_advantage": NORMALISED,
}  # fmt: skip
OF_REFERENCE = {
    "value_coef": LOSS_WEIGHT, "tau": TARGET_TAU, "target_interval": TARGET_EVERY, "update_epochs": EPOCHS,
    "epochs": EPOCHS, "batch_size": BATCH, "minibatch_size": BATCH, "max_grad_norm": CLIP, "gradient_steps": STEPS,
    "train_frequency": EVERY, "normalises_advantage": NORMALISED,
}  # fmt: skip
"""Attribute -> metric."""


def of_model(model: Any) -> dict[str, float]:
    """Return those of a model of Stable-Baselines3."""
    found = _numbers(model, OF_SB3)
    every = plain(getattr(getattr(model, "train_freq", None), "frequency", None))
    size = plain(getattr(getattr(model, "replay_buffer", None), "buffer_size", None))
    more = {EVERY: every, CAPACITY: None if size is None else size * int(model.n_envs)}
    return found | {name: value for name, value in more.items() if value is not None}


def of_trainer(trainer: Any) -> dict[str, float]:
    """Return those of a reference trainer."""
    return _numbers(getattr(trainer, "config", None), OF_REFERENCE)


def _numbers(holder: Any, names: dict[str, str]) -> dict[str, float]:
    values = [(metric, getattr(holder, name, None)) for name, metric in names.items()]
    found = [(metric, float(value) if isinstance(value, bool) else plain(value)) for metric, value in values]
    return {metric: value for metric, value in found if value is not None}
