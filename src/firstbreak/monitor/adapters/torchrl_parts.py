"""The parts of a TorchRL `Trainer` that hang on it as hooks, and the settings in force that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from torchrl.objectives.utils import HardUpdate, SoftUpdate

from .in_force import DISCOUNT, TRACE_DECAY, plain
from .settings_in_force import BATCH, CAPACITY, CLIP, EPOCHS, STEPS, TARGET_EVERY, TARGET_TAU

BEFORE_UPDATES, BEFORE_EPOCHS = "_batch_process_ops", "_pre_epoch_ops"
STAGES = (BEFORE_UPDATES, BEFORE_EPOCHS, "_process_optim_batch_ops", "_post_optim_ops", "_post_steps_ops")


def owners(trainer: Any, *stages: str) -> Iterator[Any]:
    """Yield what is called at some stages: modules and objects, for a method the object that it belongs to."""
    for stage in stages or STAGES:
        for operation, _ in getattr(trainer, stage, ()):
            inner = getattr(operation, "__wrapped__", operation)
            yield getattr(inner, "__self__", inner)


def estimator(trainer: Any) -> Any:
    """Return the module that makes advantages before an epoch, None where the loss makes its own targets."""
    found = (one for one in owners(trainer, BEFORE_UPDATES, BEFORE_EPOCHS) if hasattr(one, "gamma"))
    return next(found, None)


def replay(trainer: Any) -> Any:
    """Return the buffer that batches go into before they are logged, None where updates are made of the batch."""
    buffers = (getattr(one, "replay_buffer", None) for one in owners(trainer, BEFORE_UPDATES))
    return next((one for one in buffers if one is not None), None)


def settings(trainer: Any) -> dict[str, float]:
    """Return what the trainer and its hooks obey, as it stands."""
    made, buffer = estimator(trainer), replay(trainer)
    found: dict[str, Any] = {
        DISCOUNT: getattr(made, "gamma", None),
        TRACE_DECAY: getattr(made, "lmbda", None),
        EPOCHS: getattr(trainer, "num_epochs", None),
        STEPS: getattr(trainer, "optim_steps_per_batch", None),
        CLIP: getattr(trainer, "clip_norm", None) if getattr(trainer, "clip_grad_norm", False) else None,
    }
    if buffer is not None:
        found |= {CAPACITY: getattr(buffer._storage, "max_size", None), BATCH: getattr(buffer, "_batch_size", None)}
    for one in owners(trainer):
        updater = getattr(one, "target_params_updater", one)
        if isinstance(updater, SoftUpdate):
            found[TARGET_TAU] = 1 - cast(float, cast(Any, updater).eps)
        elif isinstance(updater, HardUpdate):
            found[TARGET_EVERY] = updater.value_network_update_interval
    numbers = {name: plain(value) for name, value in found.items()}
    return {name: value for name, value in numbers.items() if value is not None}
