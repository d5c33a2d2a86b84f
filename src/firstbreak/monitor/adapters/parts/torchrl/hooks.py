"""The parts of a TorchRL `Trainer` that hang on it as hooks, and the settings in force that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from torch import Tensor
from torchrl.objectives.utils import HardUpdate, SoftUpdate

from ..in_force import DISCOUNT, TRACE_DECAY, plain
from ..settings_in_force import BATCH, CAPACITY, CLIP, EPOCHS, STEPS, TARGET_EVERY, TARGET_TAU
from ..weights.at_rest import OF_CRITIC, OF_POLICY

BEFORE_UPDATES, BEFORE_EPOCHS = "_batch_process_ops", "_pre_epoch_ops"
BEFORE_STEPS, AFTER_UPDATES = "_process_optim_batch_ops", "_post_steps_ops"
STAGES = (BEFORE_UPDATES, BEFORE_EPOCHS, BEFORE_STEPS, "_post_optim_ops", AFTER_UPDATES)


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


def drawn_from(trainer: Any) -> Any:
    """Return the buffer that minibatches are drawn from, None where they are parts of the batch."""
    buffers = (getattr(one, "replay_buffer", None) for one in owners(trainer, BEFORE_STEPS))
    return next((one for one in buffers if one is not None), None)


def networks(loss: Any) -> dict[str, list[Tensor]]:
    """Return metric -> weights of the policy and of the critic; nothing where one network is both, as in DQN.

    What a critic shares with the policy counts as the policy's.
    """
    policy = _weights(loss, "actor_network")
    known = {id(weight) for weight in policy}
    critics = (_weights(loss, name) for name in ("critic_network", "qvalue_network", "value_network"))
    critic = [weight for weights in critics for weight in weights if id(weight) not in known]
    return {OF_POLICY: policy, OF_CRITIC: critic} if policy and critic else {}


def _weights(loss: Any, name: str) -> list[Tensor]:
    """The weights of a network of a loss that are trained; none of a copy that follows."""
    held: Any = getattr(loss, f"{name}_params", None)
    values: list[Any] = [] if held is None else list(held.values(True, True))
    return [weight for weight in values if isinstance(weight, Tensor) and weight.requires_grad]


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
