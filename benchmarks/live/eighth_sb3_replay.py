"""Faults of the eighth live campaign in Stable-Baselines3's trainers that replay; what they are: eighth.toml.

Each is handed the callback that switches it on and how large it is to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from stable_baselines3 import DQN

Plant = Callable[[Any, float], None]


def of_samples(change: Callable[[Any], Any]) -> Plant:
    """Return what lets `change` do what it does to every sample of the replay buffer."""

    def plant(switch: Any, dose: float) -> None:
        del dose
        buffer = switch.model.replay_buffer
        usual = buffer._get_samples
        buffer._get_samples = lambda rows, env=None: change(usual(rows, env=env))

    return plant


def action_row_before(switch: Any, dose: float) -> None:
    """Each row has the action of the row before."""
    del dose
    buffer = switch.model.replay_buffer
    usual = buffer._get_samples

    def get(rows: Any, env: Any = None) -> Any:
        before = usual((rows - 1) % buffer.size(), env=env)
        return usual(rows, env=env)._replace(actions=before.actions)

    buffer._get_samples = get


def mask_turned(found: Any) -> Any:
    """What follows counts where an episode has ended, and nowhere else."""
    return found._replace(dones=1 - found.dones)


def kept_as_bytes(found: Any) -> Any:
    """Observations are kept as whole numbers."""
    return found._replace(observations=found.observations.trunc(), next_observations=found.next_observations.trunc())


def rows_blank(switch: Any, dose: float) -> None:
    """All that is written is nothing."""
    del dose
    buffer = switch.model.replay_buffer
    usual = buffer.add

    def add(obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        usual(obs * 0, next_obs * 0, action * 0, reward * 0, done * 0, [{} for _ in infos])

    buffer.add = add


def actions_in_other_units(switch: Any, dose: float) -> None:
    """Actions are stored so many times as large as they were."""
    buffer = switch.model.replay_buffer
    usual = buffer.add

    def add(obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        usual(obs, next_obs, action * dose, reward, done, infos)

    buffer.add = add


def extreme_of_batch(switch: Any, dose: float) -> None:
    """The largest value (of two critics the smallest) is taken over the whole batch, not over the row."""
    del dose
    model = switch.model
    if isinstance(model, DQN):
        network, usual = model.q_net_target, model.q_net_target.forward
        network.forward = lambda obs: torch.full_like(found := usual(obs), float(found.detach().max()))
        return
    critic, usual_pair = model.critic_target, model.critic_target.forward

    def forward(obs: Any, actions: Any) -> Any:
        pair = usual_pair(obs, actions)
        lowest = float(torch.cat(pair).detach().min())
        return tuple(torch.full_like(values, lowest) for values in pair)

    critic.forward = forward


def entropy_turned(switch: Any, dose: float) -> None:
    """The sign of the entropy in the critics' target is wrong."""
    del dose
    actor = switch.model.actor
    usual = actor.action_log_prob

    def action_log_prob(obs: Any) -> Any:
        action, log_prob = usual(obs)
        # What comes next is asked for without gradients, and nothing else is.
        return action, log_prob if torch.is_grad_enabled() else -log_prob

    actor.action_log_prob = action_log_prob


def correction_dropped(switch: Any, dose: float) -> None:
    """The log-probability of an action is that before tanh."""
    del dose
    actor = switch.model.actor
    usual = actor.action_log_prob

    def action_log_prob(obs: Any) -> Any:
        action, log_prob = usual(obs)
        return action, log_prob + torch.log(1 - action**2 + actor.action_dist.epsilon).sum(1)

    actor.action_log_prob = action_log_prob


def exponent_twice(switch: Any, dose: float) -> None:
    """The spread is taken for its logarithm."""
    del dose
    actor = switch.model.actor
    usual = actor.get_action_dist_params

    def get_action_dist_params(obs: Any) -> Any:
        mean, log_std, kwargs = usual(obs)
        return mean, log_std.exp(), kwargs

    actor.get_action_dist_params = get_action_dist_params


def coin_turned(switch: Any, dose: float) -> None:
    """An action is random where it should be greedy, and greedy where it should be random."""
    del dose
    model = switch.model
    usual = model.predict

    def predict(*args: Any, **kwargs: Any) -> Any:
        meant, model.exploration_rate = model.exploration_rate, 1 - model.exploration_rate
        try:
            return usual(*args, **kwargs)
        finally:
            model.exploration_rate = meant

    model.predict = predict


OF_REPLAY: dict[str, Plant] = {
    "action-row-before": action_row_before,
    "mask-turned": of_samples(mask_turned),
    "kept-as-bytes": of_samples(kept_as_bytes),
    "rows-blank": rows_blank,
    "actions-in-other-units": actions_in_other_units,
    "extreme-of-batch": extreme_of_batch,
    "entropy-turned": entropy_turned,
    "correction-dropped": correction_dropped,
    "exponent-twice": exponent_twice,
    "coin-turned": coin_turned,
}
