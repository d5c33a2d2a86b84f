"""Faults of the ninth live campaign that are planted in trainers of Stable-Baselines3; what they are: ninth.toml.

Each is handed the model and how large it is to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from ninth_networks import OF_NETWORKS, OTHER
from stable_baselines3 import DQN, PPO, TD3

Plant = Callable[[Any, float], None]


def of_rollouts(change: Callable[[Any], None], before: bool = False) -> Plant:
    """Return what lets `change` do what it does to every rollout, before or after advantages are computed."""

    def plant(model: Any, dose: float) -> None:
        del dose
        buffer = model.rollout_buffer
        usual = buffer.compute_returns_and_advantage

        def compute(last_values: Any, dones: Any) -> None:
            if before:
                change(buffer)
            usual(last_values, dones)
            if not before:
                change(buffer)

        buffer.compute_returns_and_advantage = compute

    return plant


def advantages_unsigned(buffer: Any) -> None:
    """Advantages are taken without their sign."""
    buffer.advantages = np.abs(buffer.advantages)


def baseline_dropped(buffer: Any) -> None:
    """What is learned from is the return, not what it is better than expected by."""
    buffer.advantages = buffer.returns.copy()


def critic_learns_advantages(buffer: Any) -> None:
    """The critic is taught advantages."""
    buffer.returns = buffer.advantages.copy()


def log_probs_lost(buffer: Any) -> None:
    """The log-probabilities that come with a rollout are nothing."""
    buffer.log_probs[:] = 0


def half_written(model: Any, dose: float) -> None:
    """The second half of a rollout has the observations and actions of the one before."""
    kept: list[Any] = []

    def change(buffer: Any) -> None:
        half, whole = buffer.buffer_size // 2, (buffer.observations.copy(), buffer.actions.copy())
        if kept:
            buffer.observations[half:], buffer.actions[half:] = (rows[half:] for rows in kept[0])
        kept[:] = [whole]

    of_rollouts(change)(model, dose)


def of_samples(change: Callable[[Any], Any]) -> Plant:
    """Return what lets `change` do what it does to every sample of the replay buffer."""

    def plant(model: Any, dose: float) -> None:
        del dose
        buffer = model.replay_buffer
        usual = buffer._get_samples
        buffer._get_samples = lambda rows, env=None: change(usual(rows, env=env))

    return plant


def next_is_now(sample: Any) -> Any:
    """What followed is taken to be what was."""
    return sample._replace(next_observations=sample.observations)


def reward_left_out(sample: Any) -> Any:
    """Targets are made of what follows alone."""
    return sample._replace(rewards=torch.zeros_like(sample.rewards))


def value_of_chance(model: Any, dose: float) -> None:
    """What follows is valued as if any action were as likely as any other."""
    del dose
    if isinstance(model, DQN):
        network, usual = model.q_net_target, model.q_net_target.forward
        network.forward = lambda obs: usual(obs).mean(1, keepdim=True).expand(-1, model.action_space.n)
    elif isinstance(model, TD3):
        target, acts = model.actor_target, model.actor_target.forward
        target.forward = lambda obs: torch.rand_like(acts(obs)) * 2 - 1
    else:
        actor, draws = model.actor, model.actor.action_log_prob

        def action_log_prob(obs: Any) -> Any:
            action, log_prob = draws(obs)
            # What comes next is asked for without gradients, and nothing else is.
            return (action if torch.is_grad_enabled() else torch.rand_like(action) * 2 - 1), log_prob

        actor.action_log_prob = action_log_prob


def smallest_for_largest(model: Any, dose: float) -> None:
    """The smallest value is taken for the largest."""
    del dose
    network, usual = model.q_net_target, model.q_net_target.forward
    network.forward = lambda obs: usual(obs).min(1, keepdim=True).values.expand(-1, model.action_space.n)


def targets_cut(model: Any, dose: float) -> None:
    """Values that targets are made of are kept between two bounds, as rewards are."""
    if hasattr(model, "rollout_buffer"):

        def change(buffer: Any) -> None:
            buffer.returns = np.clip(buffer.returns, -dose, dose)
            buffer.advantages = buffer.returns - buffer.values

        of_rollouts(change)(model, dose)
    elif isinstance(model, DQN):
        network, usual = model.q_net_target, model.q_net_target.forward
        network.forward = lambda obs: usual(obs).clamp(-dose, dose)
    else:
        critic, both = model.critic_target, model.critic_target.forward
        critic.forward = lambda obs, action: tuple(found.clamp(-dose, dose) for found in both(obs, action))


def inputs_crossed(model: Any, dose: float) -> None:
    """The targets' critics are given action and observation in the other order."""
    del dose
    actions = model.action_space.shape[0]
    for network in model.critic_target.q_networks:
        network.register_forward_pre_hook(lambda _, inputs: (inputs[0].roll(actions, 1),))


def actor_of_next(model: Any, dose: float) -> None:
    """The actor is asked about what came next, and the critic judges its answer by what was."""
    del dose
    buffer, latest = model.replay_buffer, list[Any]()
    usual = buffer._get_samples

    def get(rows: Any, env: Any = None) -> Any:
        latest[:] = [usual(rows, env=env)]
        return latest[0]

    buffer._get_samples = get
    name = "forward" if isinstance(model, TD3) else "action_log_prob"
    answers = getattr(model.actor, name)

    def answer(obs: Any) -> Any:
        taught = torch.is_grad_enabled() and latest and obs is latest[0].observations
        return answers(latest[0].next_observations if taught else obs)

    setattr(model.actor, name, answer)


def noise_never_reset(model: Any, dose: float) -> None:
    """Noise on actions adds up from step to step and is never reset."""
    generator, usual = np.random.default_rng(OTHER), model._sample_action
    walk = np.zeros(model.action_space.shape)

    def sample(*args: Any, **kwargs: Any) -> Any:
        nonlocal walk
        action, stored = usual(*args, **kwargs)
        walk = walk + dose * generator.normal(size=walk.shape)
        return np.clip(action + walk, -1, 1).astype(np.float32), np.clip(stored + walk, -1, 1).astype(np.float32)

    model._sample_action = sample


def spread_floor(model: Any, dose: float) -> None:
    """The logarithm of the spread is kept above `dose`."""
    if not isinstance(model, PPO):
        model.actor.log_std.register_forward_hook(lambda _, inputs, found: found.clamp(min=dose))
        return
    dist = model.policy.action_dist
    usual = dist.proba_distribution
    dist.proba_distribution = lambda mean, log_std: usual(mean, log_std.clamp(min=dose))


OF_SB3: dict[str, Plant] = {
    "advantages-unsigned": of_rollouts(advantages_unsigned),
    "baseline-dropped": of_rollouts(baseline_dropped),
    "critic-learns-advantages": of_rollouts(critic_learns_advantages),
    "log-probs-lost": of_rollouts(log_probs_lost),
    "half-written": half_written,
    "next-is-now": of_samples(next_is_now),
    "reward-left-out": of_samples(reward_left_out),
    "value-of-chance": value_of_chance,
    "smallest-for-largest": smallest_for_largest,
    "targets-cut": targets_cut,
    "inputs-crossed": inputs_crossed,
    "actor-of-next": actor_of_next,
    "noise-never-reset": noise_never_reset,
    "spread-floor": spread_floor,
}


def plant(model: Any, fault: str, dose: float) -> None:
    """Plant a fault in a model."""
    if fault in OF_SB3:
        OF_SB3[fault](model, dose)
    else:
        OF_NETWORKS[fault](model.pieces, dose)
