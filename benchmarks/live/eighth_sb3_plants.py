"""Faults of the eighth live campaign that are planted in trainers of Stable-Baselines3; what they are: eighth.toml.

Each is handed the callback that switches it on and how large it is to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from eighth_optimisers import OF_OPTIMISERS
from eighth_sb3_replay import OF_REPLAY, Plant
from stable_baselines3 import DQN

HEAD = "action_net"
"""The last layer of a policy, which a push may leave out."""
PLAYS = (HEAD, "mlp_extractor.policy_net")
"""What of a policy plays."""


def optimisers(model: Any) -> list[Any]:
    """Return the optimisers of a model."""
    if hasattr(model, "rollout_buffer") or isinstance(model, DQN):
        return [model.policy.optimizer]
    return [model.actor.optimizer, model.critic.optimizer, model.ent_coef_optimizer]


def of_optimisers(change: Callable[[Any, float], None]) -> Plant:
    """Return what plants a fault of optimisers in a model."""
    return lambda switch, dose: change(optimisers(switch.model), dose)


def rate_below(switch: Any, dose: float) -> None:
    """The rate falls in a straight line until the end, where it is so many times itself below nothing."""
    model, usual = switch.model, switch.model.lr_schedule
    remaining = model._current_progress_remaining
    model.lr_schedule = lambda left: usual(left) * (1 - (1 + dose) * (1 - left / remaining))


def action_row_before(switch: Any, dose: float) -> None:
    """Each row has the action of the row before: in a rollout, or in what replay hands out."""
    if hasattr(switch.model, "replay_buffer"):
        OF_REPLAY["action-row-before"](switch, dose)
        return
    buffer = switch.model.rollout_buffer
    usual = buffer.compute_returns_and_advantage

    def compute(last_values: Any, dones: Any) -> None:
        buffer.actions = np.roll(buffer.actions, 1, axis=0)
        usual(last_values, dones)

    buffer.compute_returns_and_advantage = compute


def value_row_off(switch: Any, dose: float) -> None:
    """What follows is valued as what was."""
    del dose
    buffer = switch.model.rollout_buffer

    def compute(last_values: Any, dones: Any) -> None:
        del last_values
        trace = np.zeros(buffer.n_envs, np.float32)
        for step in reversed(range(buffer.buffer_size)):
            last = step == buffer.buffer_size - 1
            goes_on = 1.0 - (dones.astype(np.float32) if last else buffer.episode_starts[step + 1])
            value = buffer.values[step]
            error = buffer.rewards[step] + buffer.gamma * value * goes_on - value
            trace = error + buffer.gamma * buffer.gae_lambda * goes_on * trace
            buffer.advantages[step] = trace
        buffer.returns = buffer.advantages + buffer.values

    buffer.compute_returns_and_advantage = compute


def exponent_twice(switch: Any, dose: float) -> None:
    """The spread is taken for its logarithm."""
    if hasattr(switch.model, "replay_buffer"):
        OF_REPLAY["exponent-twice"](switch, dose)
        return
    dist = switch.model.policy.action_dist
    usual = dist.proba_distribution
    dist.proba_distribution = lambda mean, log_std: usual(mean, log_std.exp())


def of_first_weights(parts: tuple[str, ...]) -> Plant:
    """Return what lets the parts of who plays be those with which the run began."""

    def plant(switch: Any, dose: float) -> None:
        del dose
        model = switch.model
        named = {name: w for name, w in model.policy.named_parameters() if name.startswith(parts)}

        def begun() -> None:
            for name, weight in named.items():
                weight.copy_(model.first_weights[name])

        played_with(model, list(named.values()), begun)

    return plant


def played_with(model: Any, weights: list[Any], change: Callable[[], Any]) -> None:
    """Let rollouts be collected with `weights` as `change` makes them; what is learned is not changed."""
    usual = model.collect_rollouts

    def collect_rollouts(*args: Any, **kwargs: Any) -> Any:
        whole = [weight.detach().clone() for weight in weights]
        with torch.no_grad():
            change()
        try:
            return usual(*args, **kwargs)
        finally:
            with torch.no_grad():
                for weight, kept in zip(weights, whole, strict=True):
                    weight.copy_(kept)

    model.collect_rollouts = collect_rollouts


PLANTS: dict[str, Plant] = OF_REPLAY | {
    **{name: of_optimisers(change) for name, change in OF_OPTIMISERS.items()},
    "rate-below-nothing": rate_below,
    "action-row-before": action_row_before,
    "value-row-off": value_row_off,
    "exponent-twice": exponent_twice,
    "base-plays": of_first_weights(PLAYS),
    "head-left-out": of_first_weights((HEAD,)),
}
